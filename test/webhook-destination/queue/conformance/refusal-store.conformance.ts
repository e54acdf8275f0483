import type { DeliveryQueue, DeliveryStore } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { idsFrom } from '../../../../lib/webhook-destination/queue/refusal-store.interface.js';
import type { QueueEngine } from './delivery-queue.conformance.js';

const SOURCES = ['shop', 'é: "app"\n'];

/** What a store of refused messages must do. */
export function itKeepsRefusals(engine: QueueEngine): void {
  describe(`refused messages on ${engine.name}`, () => {
    let place: Awaited<ReturnType<QueueEngine['create']>>;
    let queue: DeliveryQueue;
    const start = Date.now();

    const record = (number: number, source = 'shop', text = `{"number":${number}}`) => ({
      id: `${idsFrom(start + number)}x`,
      source,
      head: JSON.stringify({ number }),
      text,
    });
    const numbersOf = (records: { head: string }[]) =>
      records.map(({ head }) => (JSON.parse(head) as { number: number }).number);
    const store = () => (queue as unknown as { store: DeliveryStore }).store.refusals;

    beforeEach(async () => {
      place = await engine.create();
      queue = place.factory();
      await queue.open();
    });
    afterEach(async () => {
      await queue.close();
      await place.remove();
    });

    it('are listed newest first, by source and page, and read with texts', async () => {
      const hostile = `"\ud83d\ude00 \\u0000 ' {`;
      await store().keep([record(3), record(1), record(2, 'shop', hostile), record(4, SOURCES[1])], 100);
      expect((await store().sources()).sort()).toEqual([...SOURCES].sort());
      const listed = await store().list('shop', undefined, 2);
      expect(numbersOf(listed)).toEqual([3, 2]);
      expect(numbersOf(await store().list('shop', listed[1]!.id, 2))).toEqual([1]);
      expect(numbersOf(await store().list('nobody', undefined, 2))).toEqual([]);
      expect(await store().read('shop', [record(1).id, record(2).id, record(9).id])).toEqual([
        record(2, 'shop', hostile),
        record(1),
      ]);
      expect(await store().read('shop', [record(4).id])).toEqual([]);
      expect(await store().read(SOURCES[1]!, [record(4).id])).toEqual([record(4, SOURCES[1])]);
    });

    it('are the newest of each source, whatever others have', async () => {
      await store().keep([record(1), record(2, SOURCES[1])], 2);
      await store().keep([record(5), record(3), record(4)], 2);
      expect(numbersOf(await store().list('shop', undefined, 9))).toEqual([5, 4]);
      expect(numbersOf(await store().list(SOURCES[1]!, undefined, 9))).toEqual([2]);
    });

    it('get new heads and are removed only while they exist, and only of their source', async () => {
      await store().keep([record(1), record(2), record(3, SOURCES[1])], 100);
      expect(await store().remove('shop', [record(2).id, record(3).id, record(2).id])).toBe(1);
      await store().update(
        'shop',
        [1, 2, 3].map((number) => ({ id: record(number).id, head: '{"number":9}' })),
      );
      expect(
        await store().read(
          'shop',
          [1, 2, 3].map((number) => record(number).id),
        ),
      ).toEqual([{ ...record(1), head: '{"number":9}' }]);
      expect(await store().remove(SOURCES[1]!, [record(3).id])).toBe(1);
      expect(await store().sources()).toEqual(['shop']);
    });

    it('are removed by their age, the oldest first, a portion at a time', async () => {
      await store().keep([record(3), record(1), record(2), record(0, SOURCES[1]), record(4, SOURCES[1])], 100);
      expect(await store().removeOld(start + 3, 2)).toBe(2);
      expect(await store().removeOld(start + 3, 2)).toBe(1);
      expect(await store().removeOld(start + 3, 2)).toBe(0);
      expect(numbersOf(await store().list('shop', undefined, 9))).toEqual([3]);
      expect(numbersOf(await store().list(SOURCES[1]!, undefined, 9))).toEqual([4]);
      await store().removeOld(start + 4, 9);
      expect(await store().sources()).toEqual([SOURCES[1]]);
    });

    it('stay when the queue is closed and opened, and go in a sweep once they are too old', async () => {
      await store().keep([record(0), record(-8 * 24 * 3_600_000)], 100);
      await queue.close();
      queue = place.factory();
      await queue.open();
      expect(numbersOf(await store().list('shop', undefined, 9))).toHaveLength(2);
      await queue.sweep();
      expect(numbersOf(await store().list('shop', undefined, 9))).toEqual([0]);
    });
  });
}
