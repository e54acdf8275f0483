import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long items are worked on without a pause, in ms. */
const SLICE = 3;

/** Yields items, and lets other work of the process go on every few milliseconds. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<T> {
  let end = performance.now() + SLICE;
  for (const item of items) {
    yield item;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + SLICE;
  }
}
