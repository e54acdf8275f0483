import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { type FileHandle, link, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ArgumentError, QueueUnavailableError } from '../../common/relay.errors.js';
import { backupMark, keepMark } from './backup-mark.js';
import { isFaultOfPlace, reasonOf } from './sqlite-fault.util.js';
import { isFolder } from './file-access.util.js';
import type { CopyCheck } from './sqlite-worker.interface.js';
import { startWorker } from './worker.factory.js';

/** Maximum number of copies begun: a copy is repeated when the log restarts meanwhile. */
const MAX_COPIES = 20;

/** Longer than one tick of any file system's clock, in ms. */
const CLOCK_TICK = 50;

/** Bytes copied at once. */
const CHUNK = 1024 * 1024;

/** Length of a log's header in bytes. */
const LOG_HEADER = 32;

/** Suffixes of the files that SQLite keeps beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'];

/** Options of {@link backUp}. */
interface BackupOptions {
  /** Whether an existing `target` is replaced. */
  overwrites: boolean;
  /** Aborts the backup; nothing is left behind. */
  signal: AbortSignal;
}

/** Files of a backup. */
interface Places {
  source: string;
  /** The copy of `source`, until it is complete. */
  copy: string;
  target: string;
}

/**
 * Copies a queue's file, even while an application has it open. `target` is a single, checked file that holds
 * everything committed before the call. Resolves with its size in bytes.
 * @throws {ArgumentError} when `target` cannot be used
 * @throws {QueueUnavailableError} when the file cannot be copied or checked; `target` then keeps its content,
 * but its `-wal` may be gone if the last step failed
 */
export async function backUp(path: string, target: string, { overwrites, signal }: BackupOptions): Promise<number> {
  const source = await realpath(path);
  await checkTarget(source, target, overwrites);
  const copy = `${target}.${randomUUID()}.tmp`;
  try {
    const places = { source, copy, target };
    await copyConsistently(places, signal);
    const size = await seal(places);
    signal.throwIfAborted();
    await writing(target, () => publish(copy, target, overwrites));
    return size;
  } finally {
    await removeAll([copy, ...companionsOf(copy)]);
  }
}

async function checkTarget(source: string, target: string, overwrites: boolean): Promise<void> {
  const folder = dirname(target);
  if (!existsSync(folder))
    throw new ArgumentError(`the folder ${folder} does not exist; create it, or name another file`);
  const place = join(await realpath(folder), basename(target));
  const real = await realpath(place).catch(() => place);
  if ([source, ...companionsOf(source), backupMark(source)].includes(real)) {
    throw new ArgumentError(`${target} belongs to the queue that is backed up; name another file`);
  }
  const found = [target, ...companionsOf(target)].find((file) => existsSync(file));
  if (found !== undefined && !overwrites) throw alreadyExists(found);
  if (isFolder(real)) throw new ArgumentError(`${target} is a folder; name a file in it`);
}

/**
 * Copies the file and then its log. The application may copy pages from the log into the file at any moment, but
 * restarts the log only when all are copied. If the log is the same before and after, each page that changed in the
 * file meanwhile is in the copied log, which takes precedence. Checksums reveal a torn end of the log.
 */
async function copyConsistently(places: Places, signal: AbortSignal): Promise<void> {
  const { source } = places;
  const mark = await keepMark(source);
  try {
    for (let copies = 0; copies < MAX_COPIES; copies++) {
      const before = await stateOf(source);
      await copyFile(places, '', signal);
      if ((await stateOf(source)) !== before) continue;
      await copyFile(places, '-wal', signal);
      if ((await stateOf(source)) === before) return;
    }
  } finally {
    await mark.remove();
  }
  const advice =
    mark.fault === undefined
      ? 'try again when there is less load'
      : `the folder ${dirname(source)} cannot be written (${mark.fault}), so the application was not asked to hold back ` +
        'changes: run the command as a user that can write there';
  throw new QueueUnavailableError(`${source} changes faster than it can be copied; ${advice}`);
}

/**
 * Returns a value that changes whenever a copy made meanwhile may be torn: the header of the log, which differs in each
 * new log. Without a log, any change counts.
 */
async function stateOf(path: string): Promise<string> {
  const header = await readHeader(`${path}-wal`);
  if (header) return header.toString('hex');
  const times = [path, `${path}-wal`].map((file) => {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
  });
  await sleep(CLOCK_TICK); // later changes have another timestamp
  return times.join();
}

async function readHeader(log: string): Promise<Buffer | undefined> {
  const file = await openIfThere(log);
  if (!file) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LOG_HEADER), 0, LOG_HEADER, 0);
    return bytesRead === LOG_HEADER ? buffer : undefined;
  } finally {
    await file.close();
  }
}

/** Copies the file or its log, up to its initial size; removes the copy if there is no such file. */
async function copyFile({ source, copy, target }: Places, suffix: '' | '-wal', signal: AbortSignal): Promise<void> {
  const file = await openIfThere(source + suffix);
  if (!file) return rm(copy + suffix, { force: true });
  try {
    const written = await writing(target, () => open(copy + suffix, 'w', 0o600));
    try {
      const buffer = Buffer.allocUnsafe(CHUNK);
      const { size } = await file.stat();
      for (let position = 0; position < size;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, size - position), position);
        if (bytesRead === 0) break;
        await writing(target, () => write(written, buffer.subarray(0, bytesRead)));
        position += bytesRead;
      }
    } finally {
      await written.close();
    }
  } finally {
    await file.close();
  }
}

async function write(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let position = 0; position < bytes.length;) {
    position += (await file.write(bytes, position)).bytesWritten;
  }
}

/** Makes errors of the copy's disk or folder name the target. */
async function writing<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isFaultOfPlace(error)) throw error;
    throw new QueueUnavailableError(`${target}: ${reasonOf(error, target)}`, { cause: error });
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Merges file and log, and makes the result durable. */
async function seal({ source, copy, target }: Places): Promise<number> {
  const worker = startWorker({ copy }, (reason) => reason);
  const results: CopyCheck[] = [];
  worker.on('message', (result: CopyCheck) => results.push(result));
  await once(worker, 'exit');
  const [result] = results;
  if (!result) throw new QueueUnavailableError(`${target}: the copy could not be checked; run the command again`);
  if (result.reason !== undefined) {
    throw new QueueUnavailableError(`${result.isFaultOfPlace ? target : source}: ${result.reason}`);
  }
  return writing(target, () => sync(copy));
}

/** Makes a file durable. Resolves with its size in bytes. */
async function sync(path: string): Promise<number> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Moves the copy to `target`. */
async function publish(copy: string, target: string, overwrites: boolean): Promise<void> {
  if (overwrites) {
    // SQLite would take a log of the replaced file for one of the copy.
    await removeAll(companionsOf(target));
    await rename(copy, target);
  } else {
    await moveToNew(copy, target);
  }
  await syncFolder(dirname(target));
}

/** Moves the copy if `target` does not exist: of two backups to one target, the second fails. */
async function moveToNew(copy: string, target: string): Promise<void> {
  try {
    await link(copy, target).catch(async (error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error;
      // Not every file system has links.
      await (await open(target, 'wx', 0o600)).close();
      await rename(copy, target);
    });
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? alreadyExists(target) : error;
  }
}

function alreadyExists(file: string): Error {
  return new ArgumentError(`${file} exists already; name another file, or replace it with --force`);
}

function companionsOf(path: string): string[] {
  return COMPANIONS.map((suffix) => `${path}${suffix}`);
}

async function removeAll(files: string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true })));
}

/** Makes a new name durable, if the system supports it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
