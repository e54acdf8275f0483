import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Node's default. */
const POOL_SIZE = 4;

/**
 * Keeps every thread of this process's pool waiting, as many slow requests would, without work for the processor.
 * @param fifo path of a file that does not exist yet
 * @returns how to let them go
 */
export function occupyThreadPool(fifo: string): () => Promise<void> {
  execFileSync('mkfifo', [fifo]);
  // Opening it to read waits until somebody opens it to write.
  const waiting = Array.from({ length: POOL_SIZE }, () => open(fifo, 'r'));
  return async () => {
    const writer = openSync(fifo, 'r+');
    await Promise.all(waiting.map(async (file) => (await file).close()));
    closeSync(writer);
  };
}
