import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { isFolder } from './file-access.util.js';

const { R_OK, W_OK, X_OK } = constants;

/** Primary result codes of SQLite. */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** Codes of SQLite for an unusable path. */
const PLACE_RESULTS: (number | undefined)[] = [READONLY, IOERR, CANTOPEN];

/** Why a locked file cannot be used. */
export const OPEN_ELSEWHERE = 'it is already open; each process needs its own file or a shared queue';

/** An error of either driver, or of the file system. */
interface Fault extends Error {
  code?: string;
  /** Of `node:sqlite`. */
  errcode?: number;
  /** Of `libsql`. */
  rawCode?: number;
}

/** Whether the disk or the path is at fault, rather than the contents of the file. */
export function isFaultOfPlace(error: unknown): boolean {
  return resultOf(error as Fault) === FULL || isFaultOfPath(error as Fault);
}

/** Returns why the file cannot be used, and what to do about it. */
export function reasonOf(error: unknown, path: string): string {
  const { message, code = '' } = error as Fault;
  const result = resultOf(error as Fault);
  if (result === BUSY) return OPEN_ELSEWHERE;
  if (result === NOTADB) return 'the file is not a SQLite database; use another file';
  if (result === CORRUPT) return `the file is damaged (${message}); restore a backup of it`;
  if (result === FULL || ['ENOSPC', 'EDQUOT'].includes(code)) return 'the disk is full; free some space on it';
  if (!isFaultOfPath(error as Fault)) return message;
  const fault = findFault(path);
  if (fault !== undefined) return fault;
  if (result === IOERR) return `${message}; check the disk`;
  return `${result === CANTOPEN ? 'the file cannot be opened' : message}; use another path`;
}

/** Returns the primary result code of an error of SQLite. */
function resultOf({ message, errcode, rawCode }: Fault): number | undefined {
  if (message.startsWith('ConnectionFailed')) return CANTOPEN; // libsql has no code for it
  const code = errcode ?? rawCode;
  return code === undefined ? undefined : code & 0xff;
}

/** Whether SQLite or the file system cannot use the path. */
function isFaultOfPath(error: Fault): boolean {
  return PLACE_RESULTS.includes(resultOf(error)) || /^E[A-Z]+$/.test(error.code ?? '');
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
