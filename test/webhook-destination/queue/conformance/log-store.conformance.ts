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

    it('remove what is past its age a portion at a time, whatever its log', async () => {
      const other = { ...LOG, name: 'other', age: 2 * HOUR };
      await queue.logs.write(LOG, records(['1', '2'], HOUR + 1));
      await queue.logs.write(other, [...records(['3'], 2 * HOUR + 1), ...records(['4'], HOUR + 1)]);
      expect(await queue.logs.removeOld(Date.now(), 2)).toBe(2);
      expect(await queue.logs.removeOld(Date.now(), 2)).toBe(1);
      expect(await queue.logs.removeOld(Date.now(), 2)).toBe(0);
      expect(await queue.logs.names('')).toEqual(['other']);
      expect(await texts(other, 10)).toEqual(['4']);
    });

    it('find records with their attachments, which pages do not have', async () => {
      const hostile = `"\ud83d\ude00 \\u0000 ' {`;
      const [a, b, c] = records(['a', 'b', 'c']);
      const whole = { ...b!, attachment: hostile };
      await queue.logs.write(LOG, [a!, whole, c!]);
      expect(await queue.logs.read(LOG, 2)).toEqual([c, b]);
      expect(await queue.logs.find(LOG, [a!.id, b!.id, `${b!.id}0`])).toEqual([whole, a]);
      expect(await queue.logs.find({ ...LOG, name: 'other' }, [a!.id])).toEqual([]);
      const [past] = records(['past'], HOUR + 1);
      await queue.logs.write(LOG, [past!]);
      expect(await queue.logs.find(LOG, [past!.id])).toEqual([]);
    });

    it('change texts and remove records only while they exist, and only of their log', async () => {
      const other = { ...LOG, name: 'other' };
      const [a, b, x] = records(['a', 'b', 'x']);
      await queue.logs.write(LOG, [{ ...a!, attachment: 'kept' }, b!]);
      await queue.logs.write(other, [x!]);
      expect(await queue.logs.remove(LOG, [b!.id, x!.id, b!.id])).toBe(1);
      await queue.logs.update(
        LOG,
        [a, b, x].map((record) => ({ id: record!.id, text: 'new' })),
      );
      expect(await queue.logs.find(LOG, [a!.id, b!.id, x!.id])).toEqual([
        { id: a!.id, text: 'new', attachment: 'kept' },
      ]);
      expect(await texts(other, 10)).toEqual(['x']);
    });

    it('are named by how their names begin', async () => {
      for (const name of ['a:1', 'a:é: "2"\n', 'b:1', 'a']) await queue.logs.write({ ...LOG, name }, records(['x']));
      expect((await queue.logs.names('a:')).sort()).toEqual(['a:1', 'a:é: "2"\n']);
      expect((await queue.logs.names('')).sort()).toEqual(['a', 'a:1', 'a:é: "2"\n', 'b:1']);
      const [record] = await queue.logs.read({ ...LOG, name: 'a:1' }, 1);
      await queue.logs.remove({ ...LOG, name: 'a:1' }, [record!.id]);
      expect(await queue.logs.names('a:')).toEqual(['a:é: "2"\n']);
    });
  });
}
