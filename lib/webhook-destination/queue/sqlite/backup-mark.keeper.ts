import { rm, utimes, writeFile } from 'node:fs/promises';

import { backupMark } from './backup-mark.js';

/** How often the mark is renewed, in ms. */
const MARK_INTERVAL = 1_000;

/** Asks the application that has the file open to hold changes back from it, so a copy need not be made again. */
export interface BackupMark {
  /** Why the mark cannot be written: the file may then change faster than it can be copied. */
  fault: string | undefined;
  remove: () => Promise<void>;
}

/** Keeps the mark of a backup beside the file until it is removed. */
export async function keepMark(path: string): Promise<BackupMark> {
  const mark = backupMark(path);
  const renew = async () => {
    await writeFile(mark, '', { mode: 0o600 });
    const now = new Date();
    await utimes(mark, now, now);
  };
  // One that another user has left behind cannot be renewed.
  let renewal = rm(mark, { force: true })
    .then(renew)
    .then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  const fault = await renewal;
  const timer = setInterval(() => {
    renewal = renewal.then(renew).then(
      () => undefined,
      () => undefined,
    );
  }, MARK_INTERVAL);
  return {
    fault,
    remove: async () => {
      clearInterval(timer);
      await renewal; // it would write the mark again
      await rm(mark, { force: true }).catch(() => undefined);
    },
  };
}
