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
      queue.searchBy(['properties.orderId', 'anonymousId']);
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
        const portion = await queue.searches.search(search, { limit, after });
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
        const next = await queue.searches.visit(search, ({ messageId }) => ids.push(messageId) === most, options);
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
      await expect(queue.searches.search({ release: 1 as never })).rejects.toThrow('release');
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
      const [record] = (await queue.searches.search({ messageId: 'm4' })).deliveries;
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

    const ordered = (index: number, orderId: unknown, fields: Partial<NewDelivery> = {}) =>
      message(index, {
        body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event: 'Ordered', properties: { orderId } })),
        ...fields,
      });
    const order = (text: string): DeliverySearch => ({ fields: { 'properties.orderId': text } });

    it('finds by values of bodies, numbers and texts alike, the newest first, in portions of any size', async () => {
      await queue.add([ordered(0, 4711), ordered(1, '4711'), ordered(2, 4712)]);
      await queue.add([ordered(3, '4711', { destination: 'Other' }), ordered(4, { id: '4711' }), ordered(5, true)]);
      await queue.add([message(6, { body: Buffer.from('{"type":"track","properties":{"order\\u0049d":"4711"}}') })]);
      await queue.add([message(7, { body: Buffer.from('{"orderId":"4711"') }), message(8)]);
      for (const limit of [1, 2, 100]) {
        expect(await found(order('4711'), limit)).toEqual(['m6', 'm3', 'm1', 'm0']);
        expect(await found({ ...order('4711'), destination: 'Webhooks', event: 'Ordered' }, limit)).toEqual([
          'm1',
          'm0',
        ]);
        expect(await found({ ...order('4711'), userId: 'u1', state: 'queued' }, limit)).toEqual(['m3', 'm1']);
      }
      expect(await found({ ...order('4711'), acceptedFrom: AT + 1, acceptedBefore: AT + 6 })).toEqual(['m3', 'm1']);
      expect(await found(order('true'))).toEqual(['m5']);
      expect(await found(order('4'))).toEqual([]);
      expect(await found({ fields: { 'properties.orderId': '4711', anonymousId: 'a1' } })).toEqual([]);
      const [record] = (await queue.searches.search(order('4712'))).deliveries;
      expect(await found({ ...order('4712'), id: record!.id })).toEqual(['m2']);
      expect(await found({ ...order('4711'), id: record!.id })).toEqual([]);
    });

    it('finds by values of fields that are not kept, which it reads the bodies for', async () => {
      const body = { type: 'track', anonymousId: 'a1', properties: { plan: { name: 'pro' }, orderId: 1 } };
      await queue.add([message(0, { body: Buffer.from(JSON.stringify(body)) }), message(1)]);
      expect(await found({ fields: { 'properties.plan.name': 'pro' } })).toEqual(['m0']);
      expect(await found({ fields: { 'properties.plan.name': 'pro', 'properties.orderId': '1' } })).toEqual(['m0']);
      expect(await found({ fields: { 'properties.plan.name': 'pro', 'properties.orderId': '2' } })).toEqual([]);
      expect(await found({ fields: { 'properties.plan': 'pro' } })).toEqual([]);
      expect(await found({ fields: { anonymousId: 'a1' } })).toEqual(['m0']);
    });

    it('finds what many deliveries have, each once, in portions that go on where the last one ended', async () => {
      const all = Array.from({ length: 1_000 }, (_, index) => ordered(index, index % 2, { acceptedAt: AT }));
      for (let start = 0; start < all.length; start += 250) await queue.add(all.slice(start, start + 250));
      const odd = await found(order('1'), 60);
      expect(new Set(odd).size).toBe(500);
      expect(odd).toHaveLength(500);
      expect(odd.every((id) => Number(id.slice(1)) % 2 === 1)).toBe(true);
      // One that is purged between two portions does not end the search.
      const first = await queue.searches.search(order('1'), { limit: 10 });
      await queue.purge({ id: first.deliveries.at(-1)!.id });
      const rest = await found(order('1'));
      expect(rest).toHaveLength(499);
      const next = await queue.searches.search(order('1'), { limit: 500, after: first.next });
      expect(next.deliveries.filter(({ id }) => first.deliveries.some((one) => one.id === id))).toEqual([]);
    });

    it('forgets the values of what is purged, sent again or not', async () => {
      await queue.add([ordered(0, 4711), ordered(1, 4711), ordered(2, 4711, { userId: 'u9' })]);
      expect(await queue.purge({ userId: 'u9' })).toBe(1);
      expect(await found(order('4711'))).toEqual(['m1', 'm0']);
      expect(await queue.purge({})).toBe(2);
      expect(await found(order('4711'))).toEqual([]);
      await queue.add([ordered(7, 4711)]);
      expect(await found(order('4711'))).toEqual(['m7']);
    });

    it('finds by the status of the last attempt, and by how the event begins', async () => {
      await queue.add([message(0), message(1, {}, 'Order "é" paid'), message(2, {}, 'Order "é" lost'), message(3)]);
      const url = 'https://receiver.example/';
      const attempt = (status?: number) => ({
        startedAt: AT,
        results: [{ url, outcome: 'temporary' as const, ...(status && { status }), duration: 1 }],
      });
      const failedUrls: string[] = [];
      let settled = 0;
      const consumer = queue.consume('Webhooks', 10).subscribe((lease) => {
        const outcome = {
          m0: { state: 'delivered' as const, attempt: attempt(204) },
          m1: { state: 'dead' as const, attempt: attempt(404), reason: 'refused', failedUrls },
          m2: { state: 'waiting' as const, attempt: attempt(503), nextAttemptAt: Date.now() + 60_000, failedUrls },
          m3: { state: 'dead' as const, attempt: attempt(), reason: 'refused', failedUrls },
        }[lease.delivery.messageId];
        void lease.settle(outcome).then(() => settled++);
      });
      await waitFor(() => settled === 4);
      consumer.unsubscribe();
      expect(await found({ status: 404 })).toEqual(['m1']);
      expect(await found({ status: 204, state: 'delivered' })).toEqual(['m0']);
      expect(await found({ status: 503, eventStart: 'Order' })).toEqual(['m2']);
      expect(await found({ status: 20 })).toEqual([]);
      expect(await found({ eventStart: 'Order "é" ' })).toEqual(['m2', 'm1']);
      expect(await found({ eventStart: 'Order', event: 'Ordered' })).toEqual(['m3', 'm0']);
      expect(await found({ eventStart: 'order' })).toEqual([]);
      const visited: string[] = [];
      await queue.searches.visit({ status: 404 }, ({ messageId }) => void visited.push(messageId));
      expect(visited).toEqual(['m1']);
    });

    it('refuses fields that it does not have, and values of another type', async () => {
      await expect(queue.searches.search({ acceptedFrom: 'x' as never })).rejects.toThrow('acceptedFrom of a query');
      await expect(queue.searches.search({ event: 1 as never })).rejects.toThrow('event of a query must be a string');
      await expect(queue.searches.search({ fields: { a: 1 } as never })).rejects.toThrow(
        'fields of a query must be an object',
      );
      await expect(queue.searches.search({ status: '404' as never })).rejects.toThrow(
        'status of a query must be a whole number',
      );
      await expect(queue.searches.search({ evnet: 'x' } as never)).rejects.toThrow('a query has no field "evnet"');
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
      const before = queue.now();
      expect(await queue.replay({ messageId: 'm2' })).toBe(1);
      const { acceptedAt, dueAt } = (await find())!;
      expect(acceptedAt).toBe(AT);
      expect(dueAt).toBeGreaterThanOrEqual(before);
      expect(dueAt).toBeLessThanOrEqual(queue.now());
    });
  });
}
