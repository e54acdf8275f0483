import { statSync } from 'node:fs';
import { rm, utimes, writeFile } from 'node:fs/promises';

/** How often the mark is renewed, in ms. */
const MARK_INTERVAL = 1_000;

/** Age from which a mark counts as left behind by a killed backup, in ms. */
const LIFETIME = 5_000;

/** Asks the application that has the file open to hold back changes to it, so that the copy need not be repeated. */
interface BackupMark {
  /** Why the mark cannot be written, if so: the file may then change faster than it can be copied. */
  fault: string | undefined;
  remove: () => Promise<void>;
}

/** Returns the path of the mark, a file that a backup keeps renewing beside the file it copies. */
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
  const fault = (await remove()) ?? (await renew()); // a mark left behind by another user cannot be renewed
  let renewal: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(renew);
  }, MARK_INTERVAL);
  return {
    fault,
    remove: async () => {
      clearInterval(timer);
      await renewal; // a renewal would write the mark again
      await remove();
    },
  };
}

/** Resolves with why the work failed, if it did. */
function faultOf(work: Promise<void>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    ({ code, message }: NodeJS.ErrnoException) => code ?? message,
  );
}
