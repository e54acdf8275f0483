import { statSync } from 'node:fs';

/** A mark that is older, in ms, was left behind by a backup that was killed. */
const LIFETIME = 5_000;

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
