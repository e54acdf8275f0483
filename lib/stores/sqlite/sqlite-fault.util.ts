import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { isFolder } from './file-access.util.js';

const { R_OK, W_OK, X_OK } = constants;

/** Codes of the file system and the driver for an unusable path; the driver has no code for a failure to open. */
const PATH_CODES = /^(E[A-Z]+|SQLITE_(CANTOPEN|READONLY|IOERR)\w*)$/;

/** Why a locked file cannot be used. */
export const OPEN_ELSEWHERE = 'it is already open; each process needs its own file or a shared queue';

/** Whether the disk or the path is at fault, rather than the contents of the file. */
export function isFaultOfPlace(error: unknown): boolean {
  const { message, code = '' } = error as Error & { code?: string };
  return code === 'SQLITE_FULL' || PATH_CODES.test(code) || isConnectionFault(message);
}

/** Returns why the file cannot be used, and what to do about it. */
export function reasonOf(error: unknown, path: string): string {
  const { message, code = '' } = error as Error & { code?: string };
  if (code.startsWith('SQLITE_BUSY')) return OPEN_ELSEWHERE;
  if (code === 'SQLITE_NOTADB') return 'the file is not a SQLite database; use another file';
  if (code.startsWith('SQLITE_CORRUPT')) return `the file is damaged (${message}); restore a backup of it`;
  if (['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(code)) return 'the disk is full; free some space on it';
  const isOpening = isConnectionFault(message);
  if (!isOpening && !PATH_CODES.test(code)) return message;
  const fault = findFault(path);
  if (fault !== undefined) return fault;
  if (code.startsWith('SQLITE_IOERR')) return `${message}; check the disk`;
  return `${isOpening ? 'the file cannot be opened' : message}; use another path`;
}

function isConnectionFault(message: string): boolean {
  return message.startsWith('ConnectionFailed');
}

/** Returns why the file system does not allow the path, if so. */
function findFault(path: string): string | undefined {
  const folders = ancestorsOf(path);
  let parent = folders[0]!;
  for (const folder of folders) {
    const code = codeOf(() => statSync(folder));
    if (code === 'ENOENT') break;
    if (code === 'EACCES')
      return `${forbids(`enter the folder ${parent}`)}; change its permissions, or use another path`;
    if (code === undefined && !isFolder(folder)) return `${folder} is not a folder; use another path`;
    parent = folder;
  }
  const isThere = codeOf(() => statSync(path)) === undefined;
  const checks: [target: string, mode: number, action: string][] = [
    [parent, W_OK | X_OK, `write to the folder ${parent}`],
  ];
  if (isThere) checks.unshift([path, R_OK | W_OK, 'read and write the file']);
  for (const [target, mode, action] of checks) {
    const code = codeOf(() => accessSync(target, mode));
    if (code === 'EROFS') return `${target} is on a read-only file system; mount it writable, or use another path`;
    if (code !== undefined) return `${forbids(action)}; change its permissions, or use another path`;
  }
  return undefined;
}

/** Returns the folders above a path, root first. */
function ancestorsOf(path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folders[0] !== folder; folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

function forbids(action: string): string {
  const uid = process.getuid?.();
  return `${uid === undefined ? 'this process' : `user ${uid}`} cannot ${action}`;
}

/** Returns the code of the error of a call; undefined if there is none. */
function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
}
