/** The code of the worker thread as one text, which `scripts/build.mjs` writes: bundlers have no file to carry along. */
export declare const sqliteWorkerSource: string;
