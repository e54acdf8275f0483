import { join } from 'node:path';

/** The worker's file, beside this one: a CommonJS file knows its folder in both builds. */
export const sqliteWorkerPath = join(__dirname, 'sqlite.worker.cjs');
