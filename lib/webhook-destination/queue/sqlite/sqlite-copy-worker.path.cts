import { join } from 'node:path';

/** The file of the thread that checks a copy: a CommonJS file knows its folder in both builds. */
export const sqliteCopyWorkerPath = join(__dirname, 'sqlite-copy.worker.cjs');
