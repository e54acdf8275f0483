import type { DeliveryQueue, DeliverySearch, NewDelivery } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { waitFor } from '../../../support/wait-for.js';
import type { QueueEngine } from './delivery-queue.conformance.js';

const AT = 1_700_000_000_000;

const message = (index: number, fields: Partial<NewDelivery> = {}, event = 'Ordered'): NewDelivery => ({
  destination: 'Webhooks',
  source: 'shop',
  messageId: `m${index}`,
  userId: `u${index % 2}`,
  body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event })),
  acceptedAt: AT + index,
  ...fields,
});

/** What searching a queue must do, portion by portion, and when its oldest open delivery was accepted. */
export function itSearches(engine: QueueEngine): void {
  describe(`a search on ${engine.name}`, () => {
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

    /** The ids of all messages that match, by as many portions as there are. */
    async function found(search: DeliverySearch, limit = 100): Promise<string[]> {
      const ids: string[] = [];
      let after: string | undefined;
      do {
        const portion = await queue.search(search, { limit, after });
        expect(portion.deliveries.length).toBeLessThanOrEqual(limit);
        ids.push(...portion.deliveries.map(({ messageId }) => messageId));
        after = portion.next;
      } while (after !== undefined);
      return ids;
    }

    it('visits what matches once, newest first and without bodies where none are compared, and goes on after the last', async () => {
      for (let index = 0; index < 6; index++) await queue.add([message(index)]);
      await queue.add([message(6, { destination: 'Other' }, 'Paid')]);
      const visited = async (search: DeliverySearch, options = {}, most = Infinity) => {
        const ids: string[] = [];
        const next = await queue.visit(search, ({ messageId }) => ids.push(messageId) === most, options);
        return { ids, next };
      };
      expect((await visited({})).ids).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
      expect(await visited({ event: 'Paid' })).toEqual({ ids: ['m6'], next: undefined });
      const first = await visited({ destination: 'Webhooks', state: 'queued' }, {}, 2);
      expect(first.ids).toEqual(['m5', 'm4']);
      const rest = await visited({ destination: 'Webhooks', state: 'queued' }, { after: first.next });
      expect(rest).toEqual({ ids: ['m3', 'm2', 'm1', 'm0'], next: undefined });
    });

    it('finds deliveries by the release that recorded them, in every state', async () => {
      const releases = ['1.2.3', '1.2.4', undefined, '1.2.4', '1.2.4'];
      await queue.add(releases.map((release, index) => message(index, { release })));
      await queue.add([message(5, { destination: 'Other', release: '1.2.4' })]);
      let settled = 0;
      const subscription = queue.consume('Webhooks', 5).subscribe((lease) => {
        const isDead = lease.delivery.messageId === 'm1';
        const attempt = { startedAt: AT, results: [] };
        const failed = { state: 'dead' as const, reason: 'my own', failedUrls: [], attempt };
        void lease.settle(isDead ? failed : { state: 'delivered', attempt }).then(() => settled++);
      });
      await waitFor(() => settled === 5);
      subscription.unsubscribe();
      expect(await found({ release: '1.2.4' }, 2)).toEqual(['m5', 'm4', 'm3', 'm1']);
      expect(await found({ release: '1.2.4', state: 'dead' })).toEqual(['m1']);
      expect(await found({ release: '1.2.4', event: 'Paid' })).toEqual([]);
      expect(await found({ release: '1.2' })).toEqual([]);
      await expect(queue.search({ release: 1 as never })).rejects.toThrow('release');
    });

    it('finds dead deliveries by the class of their reason, in whatever words, and replays them', async () => {
      const reasons = ['transform failed: no such field', 'transform failed: %', 'the retry window is over', 'my own'];
      await queue.add(reasons.map((_, index) => message(index)));
      let settled = 0;
      const subscription = queue.consume('Webhooks', 4).subscribe((lease) => {
        const reason = reasons[Number(lease.delivery.messageId.slice(1))]!;
        void lease.settle({ state: 'dead', reason, failedUrls: [] }).then(() => settled++);
      });
      await waitFor(() => settled === 4);
      subscription.unsubscribe();
      expect((await found({ reason: 'transform_failed' })).sort()).toEqual(['m0', 'm1']);
      expect(await found({ reason: 'window_over', destination: 'Webhooks' })).toEqual(['m2']);
      expect(await found({ reason: 'transform failed: %' })).toEqual(['m1']);
      expect(await found({ reason: 'my own' })).toEqual(['m3']);
      expect(await found({ reason: 'my' })).toEqual([]);
      expect(await queue.replay({ reason: 'transform_failed' })).toBe(2);
      expect((await found({ state: 'dead' })).sort()).toEqual(['m2', 'm3']);
      expect(await queue.purge({ reason: 'window_over' })).toBe(1);
    });

    it('finds by every field, the newest first, in portions of any size', async () => {
      for (let index = 0; index < 6; index++) await queue.add([message(index)]);
      await queue.add([6, 7, 8].map((index) => message(index, { destination: 'Other' }, 'Say "é" \\ 😀')));
      await queue.add([message(9, { body: Buffer.from('{"type":"delete","userId":"u1"}'), acceptedAt: AT + 9 })]);
      for (const limit of [1, 2, 3, 100]) {
        expect(await found({}, limit)).toEqual(['m9', 'm8', 'm7', 'm6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
        expect(await found({ event: 'Say "é" \\ 😀' }, limit)).toEqual(['m8', 'm7', 'm6']);
        expect(await found({ type: 'delete' }, limit)).toEqual(['m9']);
        expect(await found({ destination: 'Webhooks', userId: 'u1', type: 'track' }, limit)).toEqual([
          'm5',
          'm3',
          'm1',
        ]);
      }
      expect(await found({ acceptedFrom: AT + 2, acceptedBefore: AT + 4 })).toEqual(['m3', 'm2']);
      expect(await found({ event: 'Say' })).toEqual([]);
      expect(await found({ messageId: 'm4', source: 'shop' })).toEqual(['m4']);
      const [record] = (await queue.search({ messageId: 'm4' })).deliveries;
      expect(await found({ id: record!.id })).toEqual(['m4']);
      expect(await found({ id: record!.id, event: 'Other' })).toEqual([]);
    });

    it('finds by state, also by what is in the body', async () => {
      await queue.add([0, 1, 2, 3].map((index) => message(index, { acceptedAt: AT }, index < 2 ? 'Ordered' : 'Paid')));
      let settled = 0;
      const consumer = queue.consume('Webhooks', 10).subscribe((lease) => {
        const attempt = { startedAt: AT, results: [] };
        const failedUrls: string[] = [];
        const { messageId } = lease.delivery;
        const outcome = {
          m0: { state: 'delivered' as const, attempt },
          m1: { state: 'dead' as const, attempt, reason: 'refused', failedUrls },
          m2: { state: 'dead' as const, attempt, reason: 'refused', failedUrls },
          m3: { state: 'waiting' as const, attempt, nextAttemptAt: Date.now() + 60_000, failedUrls },
        }[messageId];
        void lease.settle(outcome).then(() => settled++);
      });
      await waitFor(() => settled === 4);
      consumer.unsubscribe();
      for (const limit of [1, 100]) {
        expect(await found({ state: 'dead' }, limit)).toEqual(['m2', 'm1']);
        expect(await found({ state: 'dead', event: 'Paid' }, limit)).toEqual(['m2']);
        expect(await found({ state: 'waiting', event: 'Paid' }, limit)).toEqual(['m3']);
        expect(await found({ state: 'delivered', type: 'track' }, limit)).toEqual(['m0']);
        expect(await found({ reason: 'refused', userId: 'u1' }, limit)).toEqual(['m1']);
      }
    });

    it('refuses fields that it does not have, and values of another type', async () => {
      await expect(queue.search({ acceptedFrom: 'x' as never })).rejects.toThrow('acceptedFrom of a query');
      await expect(queue.search({ event: 1 as never })).rejects.toThrow('event of a query must be a string');
      await expect(queue.search({ evnet: 'x' } as never)).rejects.toThrow('a query has no field "evnet"');
    });

    it('names the oldest open delivery of each destination', async () => {
      const oldest = async () => (await queue.oldest()).sort((a, b) => (a.destination < b.destination ? -1 : 1));
      expect(await oldest()).toEqual([]);
      const other = { destination: 'Othér "1"' };
      await queue.add([message(0), message(1, other)]);
      await queue.add([message(2, other), message(3)]);
      const first = [
        { ...other, acceptedAt: AT + 1, dueAt: AT + 1 },
        { destination: 'Webhooks', acceptedAt: AT, dueAt: AT },
      ];
      expect(await oldest()).toEqual(first);
      // What waits for a retry is open as well, what is dead is not.
      const nextAttemptAt = Date.now() + 60_000;
      const settled: string[] = [];
      const consumer = queue.consume('Webhooks', 2).subscribe((lease) => {
        const { messageId } = lease.delivery;
        const attempt = { startedAt: Date.now(), results: [] };
        const rest = { attempt, reason: 'refused', nextAttemptAt, failedUrls: [] };
        void lease
          .settle({ state: messageId === 'm0' ? 'waiting' : 'dead', ...rest })
          .then(() => settled.push(messageId));
      });
      await waitFor(() => settled.length === 2);
      consumer.unsubscribe();
      expect(await oldest()).toEqual([first[0], { ...first[1], dueAt: nextAttemptAt }]);
      expect(await queue.purge({ messageId: 'm0' })).toBe(1);
      expect(await oldest()).toEqual([first[0]]);
    });

    it('says when the first open delivery of a destination falls due, which need not be the oldest', async () => {
      const find = async () => (await queue.oldest())[0];
      await queue.add([message(0), message(1), message(2)]);
      const soon = Date.now() + 30_000;
      let settled = 0;
      const consumer = queue.consume('Webhooks', 3).subscribe((lease) => {
        const { messageId } = lease.delivery;
        const rest = { attempt: { startedAt: Date.now(), results: [] }, failedUrls: [] };
        const waiting = {
          state: 'waiting' as const,
          nextAttemptAt: messageId === 'm0' ? soon + 30_000 : soon,
          ...rest,
        };
        const dead = { state: 'dead' as const, reason: 'refused', ...rest };
        void lease.settle(messageId === 'm2' ? dead : waiting).then(() => settled++);
      });
      await waitFor(() => settled === 3);
      consumer.unsubscribe();
      expect(await find()).toEqual({ destination: 'Webhooks', acceptedAt: AT, dueAt: soon });
      // A replayed delivery is due from its replay, however long ago it was accepted.
      const before = Date.now();
      expect(await queue.replay({ messageId: 'm2' })).toBe(1);
      const { acceptedAt, dueAt } = (await find())!;
      expect(acceptedAt).toBe(AT);
      expect(dueAt).toBeGreaterThanOrEqual(before);
      expect(dueAt).toBeLessThanOrEqual(Date.now());
    });
  });
}
