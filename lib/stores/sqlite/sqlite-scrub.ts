import type { SqliteThread } from './sqlite-thread.js';

/** Pages that one call reads: other calls of the thread wait meanwhile. */
const PORTION = 512;

/**
 * Overwrites what removed records have left in the file and its log.
 *
 * @param pages numbers of the pages that may have had them; by default, all. With them, the log is emptied once no backup
 * is running; otherwise at once, and a running backup starts again
 */
export async function scrub(thread: SqliteThread, pages?: number[]): Promise<void> {
  for (let from = 0, count = pages?.length ?? 1; from < count; from += PORTION) {
    const portion =
      pages?.slice(from, from + PORTION) ?? Array.from({ length: PORTION }, (_, index) => from + index + 1);
    const total = await thread.call('file', 'scrub', portion);
    count = pages?.length ?? total;
  }
  await thread.call('file', 'emptyLog', pages !== undefined);
}
