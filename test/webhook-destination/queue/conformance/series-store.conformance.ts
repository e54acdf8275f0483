import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { QueueEngine } from './delivery-queue.conformance.js';

const record = (series: string, minute: number, writer: string, text = `${series}${minute}${writer}`) => ({
  series,
  minute,
  writer,
  text,
});

/** What a store of figures by the minute must do. */
export function itKeepsSeries(engine: QueueEngine): void {
  describe(`figures by the minute on ${engine.name}`, () => {
    let place: Awaited<ReturnType<QueueEngine['create']>>;
    let queue: DeliveryQueue;

    beforeEach(async () => {
      place = await engine.create();
      queue = place.factory();
      await queue.open();
    });
    afterEach(async () => {
      await queue.close();
      await place.remove();
    });

    it('are replaced by their writer only, read by series and time, and removed when they are old', async () => {
      const series = queue.series;
      await series.write([record('a', 1, 'p'), record('a', 2, 'p'), record('a', 2, 'q'), record('', 2, 'p')], 0);
      await series.write([record('a', 2, 'p', 'new'), record('b', 3, 'p')], 0);
      const read = async (...args: Parameters<typeof series.read>) =>
        (await series.read(...args)).map(({ text }) => text).sort();
      expect(await read('a', 1, 2)).toEqual(['a1p', 'a2q', 'new']);
      expect(await read('a', 2, 2)).toEqual(['a2q', 'new']);
      expect(await read('', 0, 9)).toEqual(['2p']);
      expect(await series.read('b', 3, 3)).toEqual([record('b', 3, 'p')]);
      await series.write([record('a', 3, 'p')], 2);
      expect(await read('a', 0, 9)).toEqual(['a2q', 'a3p', 'new']);
      await queue.close();
      queue = place.factory();
      await queue.open();
      expect((await queue.series.read('a', 0, 9)).length).toBe(3);
    });
  });
}
