/** The code of the worker thread as a string, which `scripts/build.mjs` writes: bundlers need no separate file. */
export declare const sqliteWorkerSource: string;
