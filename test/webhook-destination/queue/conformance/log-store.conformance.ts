import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createLogId, type KeptLog } from '../../../../lib/webhook-destination/queue/log-store.interface.js';
import type { QueueEngine } from './delivery-queue.conformance.js';

const HOUR = 3_600_000;
const LOG: KeptLog = { name: 'größe', age: HOUR, count: 5 };

/** What a store of logs must do. */
export function itKeepsLogs(engine: QueueEngine): void {
  describe(`logs on ${engine.name}`, () => {
    let place: Awaited<ReturnType<QueueEngine['create']>>;
    let queue: DeliveryQueue;
    const texts = async (...args: Parameters<DeliveryQueue['logs']['read']>) =>
      (await queue.logs.read(...args)).map(({ text }) => text);
    /** Records of an age in ms. */
    const records = (names: string[], age = 0) => names.map((text) => ({ id: createLogId(Date.now() - age), text }));

    beforeEach(async () => {
      place = await engine.create();
      queue = place.factory();
      await queue.open();
    });
    afterEach(async () => {
      await queue.close();
      await place.remove();
    });

    it('are read newest first, page by page, and after a restart', async () => {
      const [a, b, c] = records(['a', 'b\\"ü', 'c']);
      await queue.logs.write(LOG, [b!]);
      await queue.logs.write(LOG, [c!, a!]);
      await queue.logs.write({ ...LOG, name: 'other' }, records(['x']));
      expect(await texts(LOG, 10)).toEqual(['c', 'b\\"ü', 'a']);
      expect(await texts(LOG, 2)).toEqual(['c', 'b\\"ü']);
      expect(await queue.logs.read(LOG, 2, b!.id)).toEqual([a]);
      expect(await texts(LOG, 2, a!.id)).toEqual([]);
      await queue.close();
      queue = engine.name === 'memory' ? queue : place.factory();
      await queue.open();
      expect(await texts(LOG, 10)).toEqual(['c', 'b\\"ü', 'a']);
    });

    it('replace a record with the same id at its place', async () => {
      const [a, b] = records(['a', 'b']);
      await queue.logs.write(LOG, [a!, b!]);
      await queue.logs.write(LOG, [{ ...a!, text: 'new' }]);
      expect(await texts(LOG, 10)).toEqual(['b', 'new']);
    });

    it('keep no more records than their count, those of other logs apart', async () => {
      await queue.logs.write({ ...LOG, name: 'other' }, records(['x']));
      await queue.logs.write(LOG, records(['1', '2', '3', '4']));
      await queue.logs.write(LOG, records(['5', '6', '7']));
      expect(await texts(LOG, 10)).toEqual(['7', '6', '5', '4', '3']);
      expect(await texts({ ...LOG, name: 'other' }, 10)).toEqual(['x']);
    });

    it('neither return nor keep records past their age', async () => {
      const long = { ...LOG, age: 100 * HOUR };
      await queue.logs.write(LOG, [...records(['past'], HOUR + 1), ...records(['old'], HOUR - 60_000)]);
      expect(await texts(LOG, 10)).toEqual(['old']);
      await queue.sweep();
      expect(await texts(long, 10)).toEqual(['old']); // read with another age, the log shows what it still has
    });
  });
}
