import { statSync } from 'node:fs';
import { rm, utimes, writeFile } from 'node:fs/promises';

/** How often the mark is renewed, in ms. */
const MARK_INTERVAL = 1_000;

/** A mark that is older, in ms, was left behind by a backup that was killed. */
const LIFETIME = 5_000;

/** Asks the application that has the file open to hold changes back from it, so a copy need not be made again. */
export interface BackupMark {
  /** Why the mark cannot be written: the file may then change faster than it can be copied. */
  fault: string | undefined;
  remove: () => Promise<void>;
}

/** The file that a backup keeps new, beside the one that it copies. */
export function backupMark(path: string): string {
  return `${path}-backup`;
}

/** Whether the file is being copied. */
export function isBackupUnderWay(path: string): boolean {
  try {
    const mark = statSync(backupMark(path), { throwIfNoEntry: false });
    return mark !== undefined && Math.abs(Date.now() - mark.mtimeMs) < LIFETIME;
  } catch {
    return false;
  }
}

/** Keeps the mark of a backup beside the file until it is removed. */
export async function keepMark(path: string): Promise<BackupMark> {
  const mark = backupMark(path);
  const remove = () => faultOf(rm(mark, { force: true }));
  const renew = async () => {
    const now = new Date();
    return (await faultOf(writeFile(mark, '', { mode: 0o600 }))) ?? faultOf(utimes(mark, now, now));
  };
  const fault = (await remove()) ?? (await renew()); // one that another user has left behind cannot be renewed
  let renewal: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(renew);
  }, MARK_INTERVAL);
  return {
    fault,
    remove: async () => {
      clearInterval(timer);
      await renewal; // it would write the mark again
      await remove();
    },
  };
}

/** Why work cannot be done, if it cannot. */
function faultOf(work: Promise<void>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    ({ code, message }: NodeJS.ErrnoException) => code ?? message,
  );
}
