import { join } from 'node:path';

/** The worker's file, beside this one: a CommonJS file knows its folder in both builds. */
export const sqliteWorkerPath = join(__dirname, 'sqlite.worker.cjs');

/** That of the thread that checks a copy. */
export const sqliteCopyWorkerPath = join(__dirname, 'sqlite-copy.worker.cjs');
