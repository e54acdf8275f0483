import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';

/** The owner alone may read what is in a queue. SQLite gives the log the mode of the file. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Makes the file, and the folders above it, where they are missing; what is there stays as it is. */
export function createFile(path: string): void {
  createFolder(dirname(path));
  try {
    // A file that is there must not be opened here: closing it would end the lock that this process may have on it.
    const file = openSync(path, 'wx', FILE_MODE);
    fchmodSync(file, FILE_MODE); // whatever the umask
    closeSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Takes from all but the owner what an earlier version, or a copy, has let them do. */
export function restrictAccess(path: string): void {
  for (const file of [path, `${path}-wal`]) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined || (stats.mode & 0o777) === FILE_MODE) continue;
    try {
      chmodSync(file, FILE_MODE);
    } catch {
      // It belongs to another user.
    }
  }
}

/** Distinguishes a file from another one in its place; undefined where there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** When a file was written last, by the queue's time then, in ms since the epoch. */
export function lastWriteOf(path: string): number {
  const files = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }));
  return Math.floor(Math.max(...files.map((file) => file?.mtimeMs ?? 0)));
}

/** Has `lastWriteOf` tell another time than that of the system's clock. */
export function setLastWrite(path: string, now: number): void {
  try {
    utimesSync(path, now / 1_000, now / 1_000);
  } catch {
    // It belongs to another user.
  }
}

/** Makes a folder and those above it. Node's `recursive` never returns where the system answers ENOENT all the same. */
function createFolder(folder: string): void {
  if (isFolder(folder)) return;
  if (folder !== dirname(folder)) createFolder(dirname(folder));
  try {
    mkdirSync(folder, FOLDER_MODE);
    chmodSync(folder, FOLDER_MODE); // whatever the umask
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have made it
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
