import { chmodSync, closeSync, mkdirSync, openSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only the owner may read a queue. SQLite gives the log the mode of the file. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * @throws {Error} for a device, a folder, a socket or a pipe, whose mode must not change, and which may block when opened
 */
export function checkKind(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new Error(stats.isDirectory() ? 'it is a folder; use a file in it' : 'it is not a file; use another path');
}

/** Creates the file and the folders above it if they are missing; existing ones stay as they are. */
export function createFile(path: string): void {
  createFolder(dirname(path));
  try {
    // An existing file must not be opened here: closing it would end a lock that this process may hold on it.
    closeSync(openSync(path, 'wx', FILE_MODE));
    chmodSync(path, FILE_MODE); // regardless of the umask; Node's permission model has no fchmod
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Removes permissions that a copy has granted to other users. */
export function restrictAccess(path: string): void {
  for (const file of [path, `${path}-wal`]) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined || (stats.mode & 0o777) === FILE_MODE) continue;
    try {
      chmodSync(file, FILE_MODE);
    } catch {
      // The file belongs to another user.
    }
  }
}

/** Returns a text that changes when the file is replaced; undefined if there is no file. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Returns when a file was last written, by the queue's time then, in ms since the epoch. */
export function lastWriteOf(path: string): number {
  const files = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }));
  return Math.floor(Math.max(...files.map((file) => file?.mtimeMs ?? 0)));
}

/** Sets the time that `lastWriteOf` returns, for when the queue's time differs from the system clock. */
export function setLastWrite(path: string, now: number): void {
  try {
    utimesSync(path, now / 1_000, now / 1_000);
  } catch {
    // The file belongs to another user.
  }
}

/** Creates a folder and those above it. Node's `recursive` never returns if the system keeps answering ENOENT. */
function createFolder(folder: string): void {
  if (isFolder(folder)) return;
  if (folder !== dirname(folder)) createFolder(dirname(folder));
  try {
    mkdirSync(folder, FOLDER_MODE);
    chmodSync(folder, FOLDER_MODE); // regardless of the umask
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have created it
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
