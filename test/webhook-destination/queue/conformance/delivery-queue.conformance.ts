import { AsyncLocalStorage } from 'node:async_hooks';

import type {
  DeliveryOutcome,
  DeliveryQueue,
  DeliveryQueueFactory,
  DeliveryRecord,
  DeliveryState,
  Lease,
  NewDelivery,
  RetentionOptions,
} from 'nestjs-analytics-relay';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { DeliveryStore } from '../../../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import { waitFor } from '../../../support/wait-for.js';

/** An engine, and how the suite comes by a queue of it. */
export interface QueueEngine {
  name: string;
  /** Whether several processes may consume at once. */
  isShared?: boolean;
  /** A place for deliveries, and a factory of queues that use it; each queue is closed before the next is opened. */
  create(retention?: RetentionOptions): Promise<{ factory: DeliveryQueueFactory; remove: () => Promise<void> }>;
}

const AT = 1_700_000_000_000;

const message = (messageId: string, fields: Partial<NewDelivery> = {}): NewDelivery => ({
  destination: 'Webhooks',
  source: 'shop',
  messageId,
  userId: 'u1',
  body: Buffer.from(JSON.stringify({ messageId, text: 'é"\\\u2028😀' })),
  acceptedAt: AT,
  ...fields,
});

const messages = (count: number, fields?: Partial<NewDelivery>): NewDelivery[] =>
  Array.from({ length: count }, (_, index) => message(`m${index}`, fields));

const attempt = (startedAt = Date.now(), outcome: 'success' | 'temporary' | 'permanent' = 'success') => ({
  startedAt,
  results: [{ url: 'https://receiver.example/hook', outcome, status: 200, duration: 7 }],
});
const delivered = (startedAt?: number): DeliveryOutcome => ({ state: 'delivered', attempt: attempt(startedAt) });
const waiting = (delay: number, startedAt?: number) => ({
  state: 'waiting' as const,
  attempt: attempt(startedAt, 'temporary'),
  nextAttemptAt: Date.now() + delay,
  failedUrls: ['https://gone.example/'],
});
const dead = (): DeliveryOutcome => ({
  state: 'dead',
  attempt: attempt(undefined, 'permanent'),
  reason: 'every URL failed permanently',
  failedUrls: ['https://receiver.example/hook'],
});

/** What every store must do; `test/README.md` lists which promise rests on which tests. */
export function itConforms(engine: QueueEngine): void {
  describe(`the delivery queue on ${engine.name}`, () => {
    let place: Awaited<ReturnType<QueueEngine['create']>>;
    let queue: DeliveryQueue;
    const consumers: Subscription[] = [];

    const open = async (retention?: RetentionOptions) => {
      place = await engine.create(retention);
      queue = place.factory();
      await queue.open();
    };
    /** As a restart does it: whatever was leased is not leased any more. */
    const reopen = async () => {
      await queue.close();
      queue = place.factory();
      await queue.open();
    };
    /** In a new place. */
    const reopenWith = async (retention: RetentionOptions) => {
      await queue.close();
      await place.remove();
      await open(retention);
    };
    /** Collects leases, and settles each with the outcome that is given, if any. */
    const consume = (concurrency = 64, outcome?: (lease: Lease) => DeliveryOutcome, destination = 'Webhooks') => {
      const leases: Lease[] = [];
      const subscription = queue.consume(destination, concurrency).subscribe((lease) => {
        leases.push(lease);
        if (outcome) void lease.settle(outcome(lease));
      });
      consumers.push(subscription);
      return { leases, subscription };
    };
    const leased = async (count: number, leases: Lease[]): Promise<Lease[]> => {
      await waitFor(
        () => leases.length >= count,
        () => `${count} leases, got ${leases.length}`,
      );
      return leases;
    };
    const names = (leases: Lease[]) => leases.map(({ delivery }) => delivery.messageId);
    const count = async (state: DeliveryState) =>
      (await queue.counts()).filter((row) => row.state === state).reduce((sum, row) => sum + row.count, 0);
    const counted = (state: DeliveryState, expected: number) =>
      waitFor(
        async () => (await count(state)) === expected,
        () => `${expected} ${state}`,
      );

    beforeEach(() => open());
    afterEach(async () => {
      for (const consumer of consumers.splice(0)) consumer.unsubscribe();
      await queue.close();
      await place.remove();
    });

    it('checks that it can be written, which is not so once it is closed', async () => {
      await queue.add([message('m1')]);
      await expect(queue.check()).resolves.toMatchObject({ isFull: false });
      expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'queued', count: 1 }]);
      if (engine.name === 'memory') return;
      await queue.close();
      await expect(queue.check()).rejects.toThrow();
    });

    it('refuses calls once it is closed', async () => {
      if (engine.name === 'memory') return;
      await queue.close();
      const calls = [
        queue.add([message('m1')]),
        queue.remembers({ source: 'shop', messageId: 'm1' }, ['Webhooks']),
        queue.list({}),
        queue.counts(),
        queue.check(),
        queue.replay({}),
        queue.purge({}),
        queue.registry.read(0),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
      }
    });

    describe('add', () => {
      it('hands a delivery to its consumer, byte for byte', async () => {
        const { leases } = consume();
        await queue.add([message('m1', { userId: undefined })]);
        const [lease] = await leased(1, leases);
        expect(lease!.delivery.id).toMatch(/./);
        expect(lease!.delivery).toEqual({
          ...message('m1', { userId: undefined }),
          id: lease!.delivery.id,
          firstAttemptAt: undefined,
          attempts: [],
          failedUrls: [],
        });
      });

      it('keeps what nobody consumes yet, in order, and across a restart', async () => {
        await queue.add(messages(20));
        await queue.add([message('last')]);
        await reopen();
        const { leases } = consume();
        expect(names(await leased(21, leases))).toEqual([...names(leases).slice(0, 20), 'last']);
        expect(names(leases).slice(0, 20)).toEqual(messages(20).map(({ messageId }) => messageId));
        expect(leases[3]!.delivery.body).toEqual(message('m3').body);
      });

      it('leaves out a message that it has taken, whatever became of it', async () => {
        await queue.add(messages(3));
        await queue.add([message('m1'), message('m3'), message('m0')]);
        const { leases, subscription } = consume();
        await leased(4, leases);
        expect(names(leases)).toEqual(['m0', 'm1', 'm2', 'm3']);
        await leases[0]!.settle(delivered());
        await leases[1]!.settle(dead());
        await queue.add([message('m0'), message('m1'), message('m4'), message('m2')]);
        await leased(5, leases);
        subscription.unsubscribe();
        await reopen();
        await queue.add([...messages(5), message('m5')]);
        await queue.add(messages(6));
        expect((await queue.list({})).map(({ messageId }) => messageId).sort()).toEqual(
          messages(6).map(({ messageId }) => messageId),
        );
        const again = consume();
        await leased(4, again.leases);
        await queue.add([message('last')]);
        expect(names(await leased(5, again.leases)).sort()).toEqual(['last', 'm2', 'm3', 'm4', 'm5']);
      });

      it('takes a message once that comes several times at once', async () => {
        const { leases } = consume();
        await Promise.all([
          queue.add([message('m1'), message('m1'), message('m2')]),
          queue.add([message('m2'), message('m1')]),
        ]);
        await queue.add([message('m3')]);
        expect(names(await leased(3, leases)).sort()).toEqual(['m1', 'm2', 'm3']);
        expect(await queue.list({})).toHaveLength(3);
      });

      it.each([
        ['has a consumer', true],
        ['has none', false],
      ])('says which deliveries it has left out, and no others, if the destination %s', async (_, isConsumed) => {
        if (isConsumed) consume();
        expect(await queue.add([message('m1'), message('m2')])).toEqual([]);
        const again = message('m1');
        expect(await queue.add([message('m1', { destination: 'Other' }), again, message('m3')])).toEqual([again]);
        const calls = [
          [message('m4'), message('m4')],
          [message('m4'), message('m5')],
        ];
        const left = await Promise.all(calls.map((call) => queue.add(call)));
        expect(left.flat().map(({ messageId }) => messageId)).toEqual(['m4', 'm4']);
        left.forEach((some, index) => some.forEach((delivery) => expect(calls[index]).toContain(delivery)));
      });

      it('knows for which destinations it would leave out a message, also after a restart', async () => {
        const m1 = { source: 'shop', messageId: 'm1' };
        const all = ['Other', 'Third', 'Webhooks'];
        expect(await queue.remembers(m1, all)).toEqual([]);
        await queue.add([message('m1'), message('m1', { destination: 'Other' })]);
        await queue.purge({ destination: 'Other' });
        expect(await queue.remembers(m1, all)).toEqual(['Other', 'Webhooks']);
        expect(await queue.remembers({ ...m1, source: 'blog' }, all)).toEqual([]);
        expect(await queue.remembers(m1, [])).toEqual([]);
        await reopen();
        expect(await queue.remembers(m1, all)).toEqual(['Other', 'Webhooks']);
      });

      it('takes the messages of one id that come from other sources or go to other destinations', async () => {
        await queue.add([message('m1'), message('m1', { destination: 'Other' })]);
        await queue.add([message('m1', { source: 'blog' }), message('m1', { destination: 'Third' }), message('m1')]);
        const found = (await queue.list({})).map(({ destination, source }) => `${destination} ${source}`);
        expect(found.sort()).toEqual(['Other shop', 'Third shop', 'Webhooks blog', 'Webhooks shop']);
      });

      it('remembers messages as long as the bound of their age says', async () => {
        await reopenWith({ messageIds: { age: 0 } });
        await queue.add([message('m1')]);
        expect(await queue.remembers({ source: 'shop', messageId: 'm1' }, ['Webhooks'])).toEqual([]);
        expect(await queue.add([message('m1')])).toEqual([]);
        expect(await queue.list({})).toHaveLength(2);
        await queue.sweep();
      });

      it('takes nothing for an empty list', async () => {
        await queue.add([]);
        expect(await queue.counts()).toEqual([]);
      });

      it('keeps destinations, sources and moments of one call apart', async () => {
        const mixed = [
          message('a', { destination: 'A', source: 's1' }),
          message('b', { destination: 'B', acceptedAt: AT + 1 }),
          message('c', { destination: 'A', source: 's2' }),
          message('d', { destination: 'A', source: 's2', acceptedAt: AT + 2 }),
        ];
        await queue.add(mixed);
        const { leases } = consume(64, undefined, 'A');
        await leased(3, leases);
        expect(
          leases.map(({ delivery: { messageId, source, acceptedAt } }) => [messageId, source, acceptedAt]),
        ).toEqual([
          ['a', 's1', AT],
          ['c', 's2', AT],
          ['d', 's2', AT + 2],
        ]);
      });

      it('takes a large call', async () => {
        await queue.add(messages(2_500));
        const { leases } = consume(64, () => delivered());
        await leased(2_500, leases);
        expect(new Set(names(leases)).size).toBe(2_500);
        await counted('delivered', 2_500);
      });
    });

    describe('consume', () => {
      it('never has more unsettled than the concurrency', async () => {
        await queue.add(messages(30));
        const { leases } = consume(4);
        await leased(4, leases);
        await queue.add([message('late')]);
        expect(leases).toHaveLength(4);
        await leases[0]!.settle(delivered());
        await leased(5, leases);
        expect(leases).toHaveLength(5);
      });

      it('never has more unsettled than the concurrency, while a backlog is settled', async () => {
        await queue.add(messages(30));
        const unsettled: number[] = [];
        let settled = 0;
        const settle = async (lease: Lease) => {
          await queue.counts(); // by its end, a lease too many would be here
          settled++;
          await lease.settle(delivered());
        };
        consumers.push(
          queue.consume('Webhooks', 1).subscribe((lease) => {
            unsettled.push(unsettled.length + 1 - settled);
            void settle(lease);
          }),
        );
        await counted('delivered', 30);
        expect(unsettled).toEqual(Array(30).fill(1));
      });

      it('delivers all of a backlog once, while more comes in', async () => {
        await queue.add(messages(300));
        const { leases } = consume(8, () => delivered());
        for (let i = 0; i < 30; i++) await queue.add(messages(10).map((_, j) => message(`n${i}-${j}`)));
        await leased(600, leases);
        await counted('delivered', 600);
        expect(new Set(names(leases)).size).toBe(600);
        expect(leases).toHaveLength(600);
      });

      it('serves each destination on its own', async () => {
        await queue.add([message('a', { destination: 'A' }), message('b', { destination: 'B' })]);
        const a = consume(1, undefined, 'A');
        const b = consume(1, undefined, 'B');
        await leased(1, a.leases);
        await leased(1, b.leases);
        expect([...names(a.leases), ...names(b.leases)]).toEqual(['a', 'b']);
      });

      it('gives what it had not handed out to the next consumer', async () => {
        await queue.add(messages(10));
        const first = consume(2);
        await leased(2, first.leases);
        first.subscription.unsubscribe();
        const second = consume(64);
        await leased(8, second.leases);
        expect([...names(first.leases), ...names(second.leases)].sort()).toEqual(
          messages(10)
            .map(({ messageId }) => messageId)
            .sort(),
        );
        expect(second.leases[0]!.delivery.firstAttemptAt).toBeUndefined();
        for (const lease of [...first.leases, ...second.leases]) expect(await lease.settle(delivered())).toBe(true);
        expect(await count('delivered')).toBe(10);
      });

      it('tells the next consumer of a retry that the one before it settled', async () => {
        await queue.add([message('m1')]);
        const first = consume(1);
        const [lease] = await leased(1, first.leases);
        first.subscription.unsubscribe();
        const second = consume(1);
        await lease!.settle(waiting(20));
        await leased(1, second.leases);
      });

      it('is part of no request: neither of one that adds, nor of one that replays or expedites', async () => {
        const requests = new AsyncLocalStorage<string>();
        const contexts: unknown[] = [];
        const outcomes = [dead(), waiting(600_000), waiting(50), delivered()];
        consume(1, () => {
          contexts.push(requests.getStore());
          return outcomes[contexts.length - 1]!;
        });
        await requests.run('add', () => queue.add([message('m1')]));
        await counted('dead', 1);
        await requests.run('replay', () => queue.replay({}));
        await counted('waiting', 1);
        await requests.run('expedite', () => queue.expedite('Webhooks'));
        await counted('delivered', 1);
        expect(contexts).toEqual([undefined, undefined, undefined, undefined]);
      });

      it('hands out nothing after it was unsubscribed in the middle of it', async () => {
        await queue.add(messages(5));
        const leases: Lease[] = [];
        const subscription = queue.consume('Webhooks', 5).subscribe((lease) => {
          leases.push(lease);
          subscription.unsubscribe();
        });
        await leased(1, leases);
        await counted('queued', 4);
        expect(leases).toHaveLength(1);
      });
    });

    describe('settle', () => {
      it('keeps the record of a delivered one, with its attempt', async () => {
        await queue.add([message('m1')]);
        const { leases } = consume();
        const [lease] = await leased(1, leases);
        expect(await lease!.settle(delivered(AT + 5))).toBe(true);
        await reopen();
        expect(await queue.list({ state: 'delivered' })).toEqual([
          {
            ...message('m1'),
            body: message('m1').body.toString(),
            id: lease!.delivery.id,
            state: 'delivered',
            firstAttemptAt: AT + 5,
            attempts: [attempt(AT + 5)],
            failedUrls: [],
            nextAttemptAt: undefined,
            reason: undefined,
          },
        ]);
        const again = consume();
        await queue.add([message('m2')]);
        expect(names(await leased(1, again.leases))).toEqual(['m2']);
      });

      it('shows when a waiting one is due', async () => {
        await queue.add([message('m1')]);
        const outcome = waiting(60_000);
        await (await leased(1, consume().leases))[0]!.settle(outcome);
        expect(await queue.list({})).toMatchObject([{ state: 'waiting', nextAttemptAt: outcome.nextAttemptAt }]);
      });

      it('hands a waiting one out again when it is due, and not before', async () => {
        await queue.add([message('m1')]);
        const { leases } = consume();
        const [first] = await leased(1, leases);
        const outcome = waiting(60, AT + 5);
        await first!.settle(outcome);
        const [, second] = await leased(2, leases);
        expect(Date.now()).toBeGreaterThanOrEqual(outcome.nextAttemptAt);
        expect(second!.delivery).toMatchObject({
          id: first!.delivery.id,
          body: message('m1').body,
          firstAttemptAt: AT + 5,
          attempts: [attempt(AT + 5, 'temporary')],
          failedUrls: ['https://gone.example/'],
        });
        await second!.settle(waiting(1));
        const [, , third] = await leased(3, leases);
        expect(third!.delivery).toMatchObject({ firstAttemptAt: AT + 5, attempts: [{}, {}] });
        await third!.settle(delivered());
        expect(await queue.list({ messageId: 'm1' })).toMatchObject([{ state: 'delivered', attempts: [{}, {}, {}] }]);
      });

      it('keeps a waiting one across a restart, with its window', async () => {
        await queue.add(messages(3));
        const { leases, subscription } = consume();
        await leased(3, leases);
        await leases[1]!.settle(waiting(30, AT + 5));
        await leases[0]!.settle(delivered());
        await leases[2]!.settle(delivered());
        subscription.unsubscribe();
        await reopen();
        const again = consume();
        await leased(1, again.leases);
        expect(names(again.leases)).toEqual(['m1']);
        expect(again.leases[0]!.delivery.firstAttemptAt).toBe(AT + 5);
      });

      it('keeps the newest 4 KB of the answers to its attempts', async () => {
        await queue.add([message('m1')]);
        const text = (index: number) => `${index} é"\\\u2028😀\ufffd </p>\t\n`.padEnd(1_024, 'x');
        const { leases } = consume();
        for (let index = 0; index < 6; index++) {
          const lease = (await leased(index + 1, leases))[index]!;
          const { nextAttemptAt, failedUrls, attempt: made } = waiting(index < 5 ? 1 : 60_000);
          const answer = { type: 'text/html', text: text(index), bytes: 70_000 };
          const results = made.results.map((result) => ({ ...result, answer }));
          await lease.settle({ state: 'waiting', nextAttemptAt, failedUrls, attempt: { ...made, results } });
        }
        await reopen();
        const [{ attempts }] = (await queue.list({})) as [DeliveryRecord];
        const answers = attempts.map(({ results }) => results[0]!.answer);
        expect(answers.map((answer) => answer?.text)).toEqual([undefined, undefined, ...[2, 3, 4, 5].map(text)]);
        expect(answers[5]).toEqual({ type: 'text/html', text: text(5), bytes: 70_000 });
      });

      it('keeps a dead one, with its attempts and the reason', async () => {
        await queue.add(messages(2));
        const { leases } = consume();
        await leased(2, leases);
        await leases[0]!.settle(dead());
        await reopen();
        expect(await queue.list({ state: 'dead' })).toMatchObject([
          {
            messageId: 'm0',
            body: message('m0').body.toString(),
            reason: 'every URL failed permanently',
            attempts: [{ results: [{ outcome: 'permanent' }] }],
            failedUrls: ['https://receiver.example/hook'],
          },
        ]);
      });

      it('keeps where each message was recorded: at first, for a retry, across a restart, in the listing, and for a replay', async () => {
        const origins: Record<string, Pick<NewDelivery, 'trace' | 'recordedBy' | 'release'>> = {
          m0: { trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', recordedBy: 'Orders\\.größe\0' },
          m1: {},
          m2: { trace: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01 vendor=1,other=2', release: '1.2.3' },
          m3: { recordedBy: 'POST /orders/:id', release: '1.2.3-größe\0' },
        };
        const expectOrigins = (deliveries: NewDelivery[], names: string[]) => {
          const wanted = names.map((name) => [
            name,
            origins[name]!.trace,
            origins[name]!.recordedBy,
            origins[name]!.release,
          ]);
          const got = deliveries.map(({ messageId, trace, recordedBy, release }) => [
            messageId,
            trace,
            recordedBy,
            release,
          ]);
          expect(got.sort()).toEqual(wanted);
        };
        const deliveriesOf = (leases: Lease[]) => leases.map(({ delivery }) => delivery);
        await queue.add(messages(4).map((one) => ({ ...one, ...origins[one.messageId] })));
        await reopen();
        const { leases, subscription } = consume();
        expectOrigins(deliveriesOf(await leased(4, leases)), ['m0', 'm1', 'm2', 'm3']);
        await leases[0]!.settle(dead());
        await leases[1]!.settle(delivered());
        await leases[2]!.settle(waiting(20));
        await queue.purge({ messageId: 'm1' });
        await leases[3]!.settle(delivered());
        subscription.unsubscribe();
        await reopen();
        const records = await queue.list({});
        expectOrigins(
          records.map((record) => ({ ...record, body: Buffer.from(record.body) })),
          ['m0', 'm2', 'm3'],
        );
        const again = consume();
        await queue.replay({ messageId: 'm0' });
        expectOrigins(deliveriesOf(await leased(2, again.leases)), ['m0', 'm2']);
      });

      it('gives one up without an attempt', async () => {
        await queue.add([message('m0')]);
        const { leases } = consume();
        await leased(1, leases);
        await leases[0]!.settle({ state: 'dead', reason: 'destination removed', failedUrls: [] });
        expect(await queue.list({ state: 'dead' })).toMatchObject([
          { messageId: 'm0', attempts: [], reason: 'destination removed' },
        ]);
      });

      it('gives one back as it was, due at once, to the same consumer and to the next', async () => {
        await queue.add(messages(2));
        const { leases, subscription } = consume();
        const [first, second] = await leased(2, leases);
        await second!.settle(waiting(0, AT));
        const [, , retried] = await leased(3, leases);
        expect(await first!.settle(undefined)).toBe(true);
        expect(await first!.settle(undefined)).toBe(false);
        const [, , , again] = await leased(4, leases);
        expect(again!.delivery).toEqual(first!.delivery);

        subscription.unsubscribe();
        await Promise.all([again!.settle(undefined), retried!.settle(undefined)]);
        expect(await count('delivering')).toBe(0);
        await reopen();
        const next = consume().leases;
        await leased(2, next);
        const byId = (id: string) => next.find(({ delivery }) => delivery.messageId === id)!.delivery;
        expect(byId('m0')).toEqual(first!.delivery);
        expect(byId('m1')).toEqual(retried!.delivery);
      });

      it('changes nothing the second time', async () => {
        await queue.add([message('m1')]);
        const { leases } = consume();
        const [lease] = await leased(1, leases);
        expect(await lease!.settle(delivered())).toBe(true);
        expect(await lease!.settle(dead())).toBe(false);
        expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'delivered', count: 1 }]);
      });

      it('changes nothing once the delivery was purged', async () => {
        await queue.add(messages(3));
        const { leases } = consume();
        await leased(3, leases);
        expect(await queue.purge({ messageId: 'm1' })).toBe(1);
        expect(await leases[1]!.settle(dead())).toBe(false);
        expect(await leases[0]!.settle(delivered())).toBe(true);
        expect(await leases[2]!.settle(waiting(60_000))).toBe(true);
        expect((await queue.list({})).map(({ messageId }) => messageId)).toEqual(['m2', 'm0']);
      });

      it.each([
        ['', () => reopen()],
        [', though the same queue was opened again', () => queue.close().then(() => queue.open())],
      ])('changes nothing once the lease ended with its queue%s', async (_how, restart) => {
        await queue.add(messages(2));
        const { leases, subscription } = consume();
        await leased(2, leases);
        await restart();
        const settleLate = (lease: Lease) => lease.settle(dead()).catch((error: Error) => error.message);
        expect([false, expect.any(String)]).toContainEqual(await settleLate(leases[0]!));
        const again = consume();
        subscription.unsubscribe();
        await leased(2, again.leases);
        expect([false, expect.any(String)]).toContainEqual(await settleLate(leases[1]!));
        expect(names(again.leases)).toEqual(['m0', 'm1']);
        // Nothing was attempted as far as the queue knows, so no window has begun.
        for (const { delivery } of again.leases)
          expect(delivery).toMatchObject({ firstAttemptAt: undefined, attempts: [] });
        expect(await again.leases[0]!.settle(delivered())).toBe(true);
        expect(await again.leases[1]!.settle(delivered())).toBe(true);
        await queue.add([message('m2')]);
        expect(names(await leased(3, again.leases))).toEqual(['m0', 'm1', 'm2']);
      });
    });

    describe('idle', () => {
      it('is resolved once what was handed out is recorded, and not before', async () => {
        await queue.add(messages(5));
        const { leases } = consume();
        await leased(5, leases);
        let recorded = 0;
        let atIdle: number | undefined;
        const idle = queue.idle().then(() => (atIdle = recorded));
        const settle = (lease: Lease) => lease.settle(delivered()).then(() => recorded++);
        await Promise.all(leases.slice(1).map(settle));
        expect(atIdle).toBeUndefined();
        void settle(leases[0]!);
        await idle;
        expect(atIdle).toBe(5);
        expect(await count('delivered')).toBe(5);
      });

      it('is resolved once all of a backlog is recorded', async () => {
        await queue.add(messages(600));
        consume(4, () => delivered());
        await queue.idle();
        expect(await count('delivered')).toBe(600);
      });

      it('does not wait for a backlog that nobody takes any more', async () => {
        await queue.add(messages(600));
        const { leases, subscription } = consume(1);
        const [lease] = await leased(1, leases);
        const idle = queue.idle();
        subscription.unsubscribe();
        await lease!.settle(delivered());
        await idle;
        await counted('queued', 599);
      });
    });

    describe('list and counts', () => {
      it('lists by each field, the newest first, in pages', async () => {
        await queue.add(messages(5));
        await queue.add(messages(5, { destination: 'Other', source: 'blog', userId: 'u2' }));
        const all = await queue.list({});
        expect(all).toHaveLength(10);
        expect(all[0]).toMatchObject({ destination: 'Other', messageId: 'm4', state: 'queued', nextAttemptAt: AT });
        expect(await queue.list({ destination: 'Other' })).toHaveLength(5);
        expect(await queue.list({ source: 'blog', messageId: 'm2' })).toHaveLength(1);
        expect(await queue.list({ userId: 'u1' })).toHaveLength(5);
        expect(await queue.list({ userId: 'nobody' })).toEqual([]);
        expect(await queue.list({ state: 'dead' })).toEqual([]);
        expect(await queue.list({ id: all[3]!.id })).toEqual([all[3]]);
        expect(await queue.list({ id: 'unknown' })).toEqual([]);

        const first = await queue.list({}, { limit: 3 });
        const second = await queue.list({}, { limit: 3, after: first[2]!.id });
        const rest = await queue.list({}, { after: second[2]!.id });
        expect([...first, ...second, ...rest]).toEqual(all);
      });

      it.each<[string, object]>([
        ['userId', { userId: () => 1 }],
        ['userId', { userId: [] }],
        ['userId', { userId: ['u1', 7] }],
        ['userId', { userId: Array.from({ length: 1_001 }, (_, index) => `u${index}`) }],
        ['source', { source: [] }],
        ['state', { state: 'ded' }],
        ['a query must be an object', null as never],
        ['messageId', { messageId: 7 }],
        ['acceptedBefore', { acceptedBefore: '7' }],
        ['userid', { userid: 'u1' }],
        ['reason', { reason: /for good/ }],
        ['state', { reason: 'too late', state: 'waiting' }],
      ])('names %s, which no query can be asked with', async (field, query) => {
        await queue.add(messages(2));
        await expect(queue.list(query)).rejects.toThrow(field);
        await expect(queue.list(query)).rejects.toMatchObject({ code: 'argument_invalid' });
        await expect(queue.replay(query)).rejects.toThrow(field);
        await expect(queue.purge(query)).rejects.toThrow(field);
        expect(await queue.list(new Proxy({ messageId: 'm1' }, {}))).toHaveLength(1);
        expect(await count('queued')).toBe(2);
      });

      it.each<[string, object]>([
        ['limit', { limit: '3' }],
        ['limit', { limit: -1 }],
        ['after', { after: 3 }],
      ])('names the %s of a page that is wrong', async (field, page) => {
        await expect(queue.list({}, page)).rejects.toThrow(`${field} of a page must be`);
        await expect(queue.list({}, page)).rejects.toMatchObject({ code: 'argument_invalid' });
        await expect(queue.list({}, null as never)).rejects.toThrow('a page must be an object');
      });

      it('lists each delivery once on its pages, wherever it moves meanwhile', async () => {
        const resting = messages(100, { userId: 'resting' }).map((one) => ({
          ...one,
          messageId: `r-${one.messageId}`,
        }));
        await queue.add([...resting, ...messages(300)]);
        let moves = 0;
        const { subscription } = consume(8, ({ delivery }) => {
          if (delivery.userId === 'resting') return waiting(600_000);
          return moves++ % 40 === 39 ? (moves % 80 === 79 ? dead() : delivered()) : waiting(moves % 200);
        });
        await waitFor(async () => (await count('waiting')) >= 100 && moves > 300);
        const all = (await queue.list({}, { limit: 1_000 })).map(({ id }) => id);
        expect([...new Set(all)]).toHaveLength(400);
        const restingIds = (await queue.list({ userId: 'resting' })).map(({ id }) => id);
        for (const [query, limit, expected] of [
          [{}, 1_000, all],
          [{}, 60, all],
          [{ state: 'waiting', userId: 'resting' }, 30, restingIds],
        ] as const) {
          const listed: string[] = [];
          for (let after: string | undefined; ; after = listed.at(-1)) {
            const page = await queue.list(query, { limit, after });
            listed.push(...page.map(({ id }) => id));
            if (page.length < limit) break;
            const before = moves;
            await waitFor(() => moves > before + 30);
          }
          expect(listed).toEqual(expected);
        }
        subscription.unsubscribe();
        await counted('delivering', 0);
      });

      it('tells every state', async () => {
        await queue.add(messages(5));
        const { leases, subscription } = consume(4);
        await leased(4, leases);
        subscription.unsubscribe();
        await leases[0]!.settle(delivered());
        await leases[1]!.settle(waiting(60_000));
        await leases[2]!.settle(dead());
        await counted('queued', 1);
        const states: DeliveryState[] = ['queued', 'delivering', 'dead', 'waiting', 'delivered'];
        const listed = await queue.list({});
        expect(new Set(listed.map(({ state }) => state))).toEqual(new Set(states));
        for (const state of states) {
          expect(await queue.list({ state })).toEqual(listed.filter((record) => record.state === state));
          expect(await count(state)).toBe(listed.filter((record) => record.state === state).length);
        }
      });
    });

    describe('replay', () => {
      it('makes dead deliveries due now, with a new window', async () => {
        await queue.add(messages(3));
        const { leases } = consume(64, ({ delivery }) => (delivery.attempts.length === 0 ? dead() : delivered()));
        await counted('dead', 3);
        const [newest] = await queue.list({ state: 'dead' });
        const replayedAt = Date.now();
        expect(await queue.replay({ id: newest!.id })).toBe(1);
        const replayed = (await leased(4, leases))[3]!;
        expect(replayed.delivery).toMatchObject({ id: newest!.id, failedUrls: [] });
        expect(replayed.delivery.firstAttemptAt).toBeGreaterThanOrEqual(replayedAt);
        expect(replayed.delivery.attempts).toHaveLength(1);
        await counted('delivered', 1);
        expect(await queue.replay({ destination: 'Webhooks' })).toBe(2);
        await counted('delivered', 3);
      });

      // The first is one that each start asks for, where the network policy stopped deliveries.
      it.each(['address not allowed by delivery.allowedNetworks', 'too late'])(
        'takes those that died of one reason: %s',
        async (reason) => {
          const settle = async (lease: Lease, why: string) =>
            lease.settle({ ...dead(), reason: why } as DeliveryOutcome);
          await queue.add(messages(4));
          await queue.add([message('other', { destination: 'Other' })]);
          expect(await queue.replay({ destination: 'Webhooks', reason })).toBe(0);
          const first = consume();
          await leased(4, first.leases);
          await settle(first.leases[0]!, reason);
          await settle(first.leases[1]!, 'every URL failed permanently');
          await settle(first.leases[2]!, reason);
          const other = consume(1, undefined, 'Other');
          await settle((await leased(1, other.leases))[0]!, reason);
          first.subscription.unsubscribe();
          other.subscription.unsubscribe();
          await reopen();

          expect((await queue.list({ reason })).map(({ messageId }) => messageId)).toEqual(['other', 'm2', 'm0']);
          expect((await queue.list({ reason, messageId: 'm2', state: 'dead' })).map((found) => found.reason)).toEqual([
            reason,
          ]);
          expect(await queue.replay({ destination: 'Webhooks', reason, messageId: 'm2' })).toBe(1);
          expect(await queue.replay({ destination: 'Webhooks', reason })).toBe(1);
          expect(await queue.replay({ destination: 'Webhooks', reason })).toBe(0);
          const again = consume();
          expect(names(await leased(3, again.leases)).sort()).toEqual(['m0', 'm2', 'm3']);
          const once = again.leases.find(({ delivery }) => delivery.messageId === 'm0')!;
          expect(once.delivery).toMatchObject({ attempts: [{}], failedUrls: [] });
          await settle(once, reason);
          expect(await queue.replay({ reason })).toBe(2);
          expect((await queue.list({ state: 'dead' })).map(({ messageId }) => messageId)).toEqual(['m1']);
        },
      );

      it('leaves all others alone', async () => {
        await queue.add(messages(2));
        expect(await queue.replay({})).toBe(0);
        expect(await queue.replay({ state: 'queued' })).toBe(0);
        expect(await count('queued')).toBe(2);
      });

      it('sends delivered ones again on request, with a new window and all their attempts', async () => {
        await queue.add(messages(3));
        const { leases } = consume(64, () => delivered());
        await counted('delivered', 3);
        expect(await queue.replay({})).toBe(0);
        const [newest] = await queue.list({ state: 'delivered' });
        const replayedAt = Date.now();
        expect(await queue.replay({ id: newest!.id })).toBe(0);
        expect(await queue.replay({ id: newest!.id, state: 'waiting' })).toBe(0);
        expect(await queue.replay({ id: newest!.id, state: 'delivered', userId: 'u2' })).toBe(0);
        expect(await queue.replay({ id: newest!.id, state: 'delivered' })).toBe(1);
        const { id, messageId, body, attempts, firstAttemptAt } = (await leased(4, leases))[3]!.delivery;
        expect({ id, messageId }).toEqual({ id: newest!.id, messageId: newest!.messageId });
        expect(body.toString()).toBe(newest!.body);
        expect(attempts).toEqual(newest!.attempts);
        expect(firstAttemptAt).toBeGreaterThanOrEqual(replayedAt);
        await counted('delivered', 3);
        expect(await queue.replay({ state: 'delivered', destination: 'Webhooks' })).toBe(3);
        await leased(7, leases);
        await counted('delivered', 3);
        await reopen();
        const all = await queue.list({});
        expect(all.map((delivery) => [delivery.state, delivery.attempts.length])).toEqual([
          ['delivered', 3],
          ['delivered', 2],
          ['delivered', 2],
        ]);
        await queue.add(messages(3)); // still remembered
        expect(await count('queued')).toBe(0);
      });

      it('keeps what a delivered one that is sent again needs, if its next attempt fails', async () => {
        await queue.add(messages(2));
        let outcome: () => DeliveryOutcome = () => delivered();
        const { subscription } = consume(64, () => outcome());
        await counted('delivered', 2);
        outcome = () => dead();
        expect(await queue.replay({ state: 'delivered', messageId: 'm0' })).toBe(1);
        await counted('dead', 1);
        subscription.unsubscribe();
        await reopen();
        const [record] = await queue.list({ state: 'dead' });
        expect(record).toMatchObject({ messageId: 'm0', reason: 'every URL failed permanently' });
        expect(record!.attempts.map(({ results }) => results[0]!.outcome)).toEqual(['success', 'permanent']);
        expect(await queue.purge({ messageId: 'm0' })).toBe(1);
        expect((await queue.list({})).map(({ messageId, state }) => [messageId, state])).toEqual([['m1', 'delivered']]);
      });

      it('makes waiting ones due now on request, within their window', async () => {
        await queue.add(messages(3));
        const { leases } = consume(64, (lease) =>
          lease.delivery.attempts.length === 0 ? waiting(60_000) : delivered(),
        );
        await counted('waiting', 3);
        expect(await queue.replay({})).toBe(0);
        const [newest] = await queue.list({ state: 'waiting' });
        expect(await queue.replay({ id: newest!.id, state: 'waiting' })).toBe(1);
        const tried = (await leased(4, leases))[3]!.delivery;
        const { id, attempts, firstAttemptAt, failedUrls } = newest!;
        expect(tried).toMatchObject({ id, attempts, firstAttemptAt, failedUrls });
        await counted('delivered', 1);
        expect(await queue.replay({ id: newest!.id, state: 'waiting' })).toBe(0);
        expect(await queue.replay({ state: 'waiting' })).toBe(2);
        await counted('delivered', 3);
      });

      it('tries each waiting one once, even if it waits again meanwhile', async () => {
        await queue.add(messages(20));
        const { leases } = consume(64, () => waiting(60_000));
        await counted('waiting', 20);
        expect(await queue.replay({ state: 'waiting' })).toBe(20);
        await leased(40, leases);
        await counted('waiting', 20);
        expect(leases).toHaveLength(40);
      });
    });

    describe('purge', () => {
      it('removes deliveries of every state, bodies and attempts', async () => {
        const users = ['u1', 'u2', 'u1', 'u2', 'u1', 'u2', 'u1', 'u2', 'u1', 'u2'];
        await queue.add(
          users.map((userId, index) =>
            message(`m${index}`, { userId, body: Buffer.from(`{"of":"${userId}-${index}"}`) }),
          ),
        );
        const { leases, subscription } = consume(8);
        await leased(8, leases);
        subscription.unsubscribe();
        for (const lease of leases.slice(0, 2)) await lease.settle(delivered());
        for (const lease of leases.slice(2, 4)) await lease.settle(waiting(60_000));
        for (const lease of leases.slice(4, 6)) await lease.settle(dead());
        await counted('queued', 2);
        expect(await queue.purge({ userId: 'u1' })).toBe(5);
        const left = await queue.list({});
        expect(left.map(({ messageId }) => messageId)).toEqual(['m9', 'm7', 'm5', 'm3', 'm1']);
        expect(left.map(({ body }) => body)).toEqual([9, 7, 5, 3, 1].map((index) => `{"of":"u2-${index}"}`));
        expect(left[4]).toMatchObject({ state: 'delivered', attempts: [{}] });
        expect((await queue.counts()).reduce((sum, row) => sum + row.count, 0)).toBe(5);
        await reopen();
        expect(await queue.purge({})).toBe(5);
        expect(await queue.counts()).toEqual([]);
      });

      it('removes the deliveries of several users and sources, of every state', async () => {
        const odd = 'odd \u0000 \ud800 "user"';
        const users = ['u1', 'u2', odd, 'u3'];
        const all = users.flatMap((userId, index) =>
          ['shop', 'blog', 'app'].map((source) => message(`${source}${index}`, { userId, source })),
        );
        await queue.add([...all, message('nobody', { userId: undefined })]);
        const outcomes = [delivered, dead, () => waiting(60_000)];
        const { leases, subscription } = consume(10);
        await leased(10, leases);
        subscription.unsubscribe();
        for (const [index, lease] of leases.slice(0, 8).entries()) await lease.settle(outcomes[index % 3]!());
        const query = { userId: ['u1', odd, 'unknown'], source: ['shop', 'app'] };
        const wanted = ['app0', 'app2', 'shop0', 'shop2'];
        expect((await queue.list(query)).map(({ messageId }) => messageId).sort()).toEqual(wanted);
        expect(await queue.purge(query)).toBe(4);
        expect(await queue.list(query)).toEqual([]);
        const left = [...all.map(({ messageId }) => messageId), 'nobody'].filter((id) => !wanted.includes(id));
        expect((await queue.list({})).map(({ messageId }) => messageId).sort()).toEqual(left.sort());
        const many = Array.from({ length: 998 }, (_, index) => `user ${index}`);
        expect(await queue.purge({ userId: [...many, 'u3', 'u2'] })).toBe(6);
        expect((await queue.list({})).map(({ messageId }) => messageId).sort()).toEqual(['blog0', 'blog2', 'nobody']);
      });

      it('removes what died of one reason, and nothing else of its user', async () => {
        await queue.add(messages(4));
        const { leases } = consume(3);
        await leased(3, leases);
        await leases[0]!.settle({ state: 'dead', reason: 'too late', failedUrls: [] });
        await leases[1]!.settle(dead());
        expect(await queue.purge({ userId: 'u1', reason: 'too late' })).toBe(1);
        const left = await queue.list({});
        expect(left.map(({ messageId, body }) => [messageId, body])).toEqual(
          ['m3', 'm2', 'm1'].map((id) => [id, message(id).body.toString()]),
        );
      });

      it('hands out no purged delivery', async () => {
        await queue.add(messages(3));
        await queue.purge({ messageId: 'm1' });
        const { leases } = consume(64, () => delivered());
        await counted('delivered', 2);
        expect(names(leases)).toEqual(['m0', 'm2']);
      });

      it('hands out no purged delivery that was being claimed meanwhile', async () => {
        for (let round = 0; round < 10; round++) {
          const destination = `d${round}`;
          await queue.add(messages(20, { destination }));
          const { leases } = consume(2, undefined, destination);
          for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
          expect(await queue.purge({ destination })).toBe(20);
          const before = leases.length;
          for (const lease of [...leases]) void lease.settle(delivered());
          await queue.idle();
          expect(leases.length).toBe(before);
        }
      });

      it('hands out no purged delivery that the settlement of another has taken', async () => {
        await queue.add([message('m0', { userId: 'u2' }), ...messages(3).slice(1)]);
        const leases: Lease[] = [];
        const subscription = queue.consume('Webhooks', 1, true).subscribe((lease) => leases.push(lease));
        await leased(1, leases);
        subscription.unsubscribe();
        await leases[0]!.settle(delivered());
        expect(await queue.purge({ userId: 'u1' })).toBe(2);
        const next = consume();
        await queue.idle();
        expect(next.leases).toEqual([]);
      });

      it('hands out what matches a purge, but came after it', async () => {
        await queue.add([message('m0')]);
        const { leases } = consume(1);
        await leased(1, leases);
        const { store } = queue as unknown as { store: Pick<DeliveryStore, 'purge'> };
        const purge = store.purge.bind(store);
        store.purge = async (...given) => {
          const purged = await purge(...given);
          await queue.add([message('m1'), message('m2')]);
          return purged;
        };
        expect(await queue.purge({ userId: 'u1' })).toBe(1);
        await leases[0]!.settle(delivered());
        for (const count of [2, 3]) {
          await leased(count, leases);
          await leases.at(-1)!.settle(delivered());
        }
        expect(names(leases).sort()).toEqual(['m0', 'm1', 'm2']);
      });

      it('removes what was accepted before a moment', async () => {
        const round = (prefix: string, acceptedAt: number) =>
          messages(4).map((one) => ({ ...one, messageId: `${prefix}-${one.messageId}`, acceptedAt }));
        await queue.add(round('old', AT));
        await queue.add(round('new', AT + 1));
        const { leases, subscription } = consume(2);
        await leased(2, leases);
        await leases[0]!.settle(waiting(60_000));
        await leased(3, leases);
        const query = { userId: 'u1', acceptedBefore: AT + 1 };
        expect(await queue.list(query)).toHaveLength(4);
        expect(await queue.purge(query)).toBe(4);
        expect(await queue.list(query)).toEqual([]);
        expect(await leases[2]!.settle(delivered())).toBe(false);
        expect(await leases[1]!.settle(delivered())).toBe(false);
        await leased(5, leases);
        subscription.unsubscribe();
        expect(names(leases.slice(3))).toEqual(['new-m0', 'new-m1']);
        await counted('queued', 2);
        expect(await queue.list({})).toHaveLength(4);
      });

      it('keeps the delete notifications that are still to be sent, if it is asked to', async () => {
        const body = Buffer.from('{"type":"delete","userId":"u1","timestamp":"2026-01-02T03:04:05.678Z"}');
        const notices = ['delivered', 'delivering', 'waiting', 'queued'].map((id) => message(id, { body }));
        await queue.add([...notices, message('m1')]);
        const { leases, subscription } = consume(3);
        await leased(3, leases);
        subscription.unsubscribe();
        await leases[0]!.settle(delivered());
        await leases[2]!.settle(waiting(60_000));
        expect(await queue.purge({ userId: 'u1' }, true)).toBe(2);
        const left = (await queue.list({})).map(({ messageId }) => messageId);
        expect(left.sort()).toEqual(['delivering', 'queued', 'waiting']);
        expect(await leases[1]!.settle(delivered())).toBe(true);
        expect(await queue.purge({ userId: 'u1' })).toBe(3);
      });

      it('removes all of one state', async () => {
        await queue.add(messages(4));
        consume(64, ({ delivery }) => (delivery.messageId === 'm1' ? dead() : delivered()));
        await counted('dead', 1);
        await counted('delivered', 3);
        expect(await queue.purge({ state: 'dead' })).toBe(1);
        expect(await queue.purge({ state: 'delivered', messageId: 'm3' })).toBe(1);
        expect(await count('delivered')).toBe(2);
      });
    });

    describe('expedite', () => {
      it('makes the waiting deliveries of a destination due, with their attempts and windows', async () => {
        await queue.add([...messages(3), message('other', { destination: 'Other' })]);
        const first = consume(64, () => waiting(60_000, AT));
        const other = consume(64, () => waiting(60_000), 'Other');
        await leased(3, first.leases);
        await leased(1, other.leases);
        await counted('waiting', 4);
        first.subscription.unsubscribe();
        const again = consume();
        expect(await queue.expedite('Webhooks')).toBe(3);
        await leased(3, again.leases);
        expect(names(again.leases).sort()).toEqual(['m0', 'm1', 'm2']);
        for (const { delivery } of again.leases) {
          expect(delivery).toMatchObject({ firstAttemptAt: AT, failedUrls: ['https://gone.example/'] });
          expect(delivery.attempts).toEqual([attempt(AT, 'temporary')]);
        }
        expect(await count('waiting')).toBe(1);
        expect(other.leases).toHaveLength(1);
      });

      it('leaves all others as they are, and goes on with more than a portion', async () => {
        await queue.add(messages(2_300));
        let seen = 0;
        const first = consume(64, () => (++seen > 2_200 ? dead() : waiting(60_000)));
        await leased(2_300, first.leases);
        await counted('waiting', 2_200);
        await counted('dead', 100);
        first.subscription.unsubscribe();
        expect(await queue.expedite('nobody')).toBe(0);
        expect(await queue.expedite('Webhooks')).toBe(2_200);
        const again = consume(64, () => delivered());
        await leased(2_200, again.leases);
        await counted('delivered', 2_200);
        expect(await count('dead')).toBe(100);
        expect(await queue.expedite('Webhooks')).toBe(0);
      });
    });

    describe('sweep', () => {
      it('keeps as many records as the bounds say, those that ended last', async () => {
        await reopenWith({ delivered: { count: 12 }, dead: { count: 3 } });
        consume(64, ({ delivery }) => (delivery.source === 'bad' ? dead() : delivered()));
        for (let i = 0; i < 4; i++) {
          const round = (prefix: string, count: number, fields: Partial<NewDelivery>) =>
            Array.from({ length: count }, (_, index) => message(`${prefix}${i}-${index}`, fields));
          await queue.add(round('m', 5, { acceptedAt: AT + i }));
          await queue.add(round('b', 2, { acceptedAt: AT + i, source: 'bad' }));
          await counted('delivered', 5 * (i + 1));
          await counted('dead', 2 * (i + 1));
        }
        expect((await queue.sweep()).removed).toBe(8 + 5);
        const kept = await queue.list({ state: 'delivered' });
        expect(kept.map(({ acceptedAt }) => acceptedAt - AT)).toEqual([3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1]);
        expect(await count('delivered')).toBe(12);
        expect(await queue.list({ state: 'dead' })).toHaveLength(3);
        expect((await queue.sweep()).removed).toBe(0);
      });

      it('shares the bounds among destinations: one with many records pushes out none of the others', async () => {
        await reopenWith({ delivered: { count: 7 }, dead: { count: 7 } });
        const add = async (destination: string, outcome: () => DeliveryOutcome, count: number, from = 0) => {
          const { leases, subscription } = consume(64, () => outcome(), destination);
          for (let index = 0; index < count; index++) {
            const fields = { destination, source: outcome().state, acceptedAt: AT + from + index };
            await queue.add([message(`${destination}${from + index}`, fields)]);
            await leased(index + 1, leases);
          }
          await queue.idle();
          subscription.unsubscribe();
        };
        const kept = async (state: DeliveryState) =>
          (await queue.list({ state })).map(({ messageId }) => messageId).sort();
        for (const [outcome, state] of [
          [dead, 'dead'],
          [delivered, 'delivered'],
        ] as const) {
          await add('quiet', outcome, 1);
          await add('loud', outcome, 6, 20);
          await add('down', outcome, 9, 40);
          const { removed, surplus } = await queue.sweep();
          expect(removed).toBe(9);
          expect(surplus.sort((a, b) => a.count - b.count)).toEqual([
            { destination: 'loud', state, count: 3 },
            { destination: 'down', state, count: 6 },
          ]);
          const left = await kept(state);
          expect(left.map((name) => name.replace(/\d+/, ''))).toEqual([
            'down',
            'down',
            'down',
            'loud',
            'loud',
            'loud',
            'quiet',
          ]);
          expect(await queue.sweep()).toEqual({ removed: 0, surplus: [] });
          await queue.purge({});
        }
      });

      it('keeps the records of a destination that ended last, whichever was accepted last', async () => {
        await reopenWith({ dead: { count: 1 } });
        const { leases } = consume();
        for (const id of ['first', 'second']) await queue.add([message(id)]);
        await leased(2, leases);
        for (const lease of [...leases].reverse()) {
          await lease.settle(dead());
          const at = Date.now();
          await waitFor(() => Date.now() > at);
        }
        expect((await queue.sweep()).surplus).toEqual([{ destination: 'Webhooks', state: 'dead', count: 1 }]);
        expect((await queue.list({})).map(({ messageId }) => messageId)).toEqual([names(leases)[0]]);
      });

      it('removes what has come to be past a bound since a sweep that removed nothing', async () => {
        await reopenWith({ delivered: { count: 3 }, dead: { age: 100 } });
        consume(64, ({ delivery }) => (delivery.source === 'bad' ? dead() : delivered()));
        expect((await queue.sweep()).removed).toBe(0);
        await queue.add(messages(3));
        await counted('delivered', 3);
        expect((await queue.sweep()).removed).toBe(0);
        await queue.add(['n1', 'n2'].map((id) => message(id)));
        await counted('delivered', 5);
        expect((await queue.sweep()).removed).toBe(2);

        await queue.add(['b1', 'b2'].map((id) => message(id, { source: 'bad' })));
        let swept = 0;
        await waitFor(async () => (swept += (await queue.sweep()).removed) === 2);
        expect(await count('dead')).toBe(0);
        expect(await count('delivered')).toBe(3);
      });

      it('keeps about as many bytes of delivered records as the bound says, and all dead ones', async () => {
        const size = 20_000;
        await reopenWith({ delivered: { bytes: 10 * size } });
        consume(64, ({ delivery }) => (delivery.source === 'bad' ? dead() : delivered()));
        const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(size) }));
        for (let i = 0; i < 5; i++) {
          await queue.add(Array.from({ length: 4 }, (_, at) => message(`m${i}-${at}`, { acceptedAt: AT + i, body })));
          await counted('delivered', 4 * (i + 1));
        }
        await queue.add(Array.from({ length: 20 }, (_, at) => message(`b${at}`, { source: 'bad', body })));
        await counted('dead', 20);
        const { removed, surplus } = await queue.sweep();
        expect(surplus).toEqual([{ destination: 'Webhooks', state: 'delivered', count: removed }]);
        const kept = await queue.list({ state: 'delivered' });
        expect(kept.length).toBeGreaterThanOrEqual(8);
        expect(kept.length).toBeLessThanOrEqual(10);
        expect(new Set(kept.slice(0, 8).map(({ acceptedAt }) => acceptedAt - AT))).toEqual(new Set([4, 3]));
        expect(await count('delivered')).toBe(kept.length);
        expect(await count('dead')).toBe(20);
      });

      it('counts what is left after replays, deletions and sweeps', async () => {
        await reopenWith({ delivered: { count: 6 } });
        let outcome: () => DeliveryOutcome = dead;
        consume(64, ({ delivery }) => (delivery.source === 'bad' ? outcome() : delivered()));
        await queue.add([...messages(10), ...['b1', 'b2', 'b3'].map((id) => message(id, { source: 'bad' }))]);
        await counted('delivered', 10);
        await counted('dead', 3);
        expect(await queue.purge({ messageId: 'b3' })).toBe(1);
        outcome = delivered;
        expect(await queue.replay({ messageId: 'b1' })).toBe(1);
        await counted('delivered', 11);
        expect((await queue.sweep()).removed).toBe(5);
        expect(await queue.purge({ state: 'delivered', messageId: 'b1' })).toBe(1);
        const counts = (await queue.counts()).sort((one, other) => one.count - other.count);
        expect(counts).toEqual([
          { destination: 'Webhooks', state: 'dead', count: 1 },
          { destination: 'Webhooks', state: 'delivered', count: 5 },
        ]);
        expect(await queue.list({ state: 'delivered' })).toHaveLength(5);
      });

      it('moves the time since which delivered records are kept', async () => {
        await reopenWith({ delivered: { count: 2 } });
        expect(await queue.keptSince()).toEqual([]);
        const ends: number[] = [];
        for (const [destination, id] of [
          ['Webhooks', 'm1'],
          ['Webhooks', 'm2'],
          ['Other', 'o1'],
        ] as const) {
          const { leases, subscription } = consume(1, () => delivered(), destination);
          const before = Date.now();
          await waitFor(() => Date.now() > before);
          await queue.add([message(id, { destination })]);
          await leased(1, leases);
          await queue.idle();
          subscription.unsubscribe();
          ends.push(before + 1);
        }
        const since = async () => {
          const kept = await queue.keptSince();
          return Object.fromEntries(kept.map(({ destination, since }) => [destination, since]));
        };
        const first = await since();
        expect(Object.keys(first).sort()).toEqual(['Other', 'Webhooks']);
        expect(first.Webhooks).toBeGreaterThanOrEqual(ends[0]!);
        expect(first.Webhooks).toBeLessThan(ends[1]!);
        expect(first.Other).toBeGreaterThanOrEqual(ends[2]!);
        expect((await queue.sweep()).removed).toBe(1);
        const later = await since();
        expect(later.Webhooks).toBeGreaterThanOrEqual(ends[1]!);
        expect(later.Webhooks).toBeLessThan(ends[2]!);
        expect(later.Other).toBe(first.Other);
        await queue.purge({});
        expect(await queue.keptSince()).toEqual([]);
      });

      it('removes what is too old, and nothing that has not ended', async () => {
        await reopenWith({ delivered: { age: 0 }, dead: { age: 0 } });
        await queue.add(messages(4));
        const { leases } = consume();
        await leased(4, leases);
        await leases[0]!.settle(delivered());
        await leases[1]!.settle(dead());
        await leases[2]!.settle(waiting(60_000));
        const before = (await queue.sweep()).removed;
        await leases[3]!.settle(delivered());
        expect(before + (await queue.sweep()).removed).toBe(3);
        expect((await queue.list({})).map(({ messageId }) => messageId)).toEqual(['m2']);
      });
    });
  });
}
