import { Injectable } from '@nestjs/common';
import { Propagation, Transactional } from '@nestjs-cls/transactional';
import {
  AnalyticsModule,
  type AnalyticsModuleOptions,
  AnalyticsService,
  defineEvent,
  memoryQueue,
  Track,
  type TrackParams,
} from 'nestjs-analytics-relay';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { useCleanUps } from '../support/clean-ups.js';
import { pgTransactions } from '../support/pg-transactions.js';
import { Relay } from '../support/relay.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../support/services.js';
import { startTransactional } from '../support/transactions.js';

const ordered = (messageId: string) => ({ userId: 'u1', event: messageId, messageId });
const tooLarge = { ...ordered('m1'), properties: { text: 'x'.repeat(40_000) } };

const Paid = defineEvent('Paid', z.object({ total: z.number() }));

@Injectable()
class Orders {
  constructor(private readonly analytics: AnalyticsService) {}

  @Transactional()
  @Track('Tracked', { userId: 'u1' })
  @Track('Failed', { userId: 'u1', on: 'error' })
  async place(messageId: string, fails = false): Promise<string> {
    this.analytics.track(ordered(messageId));
    await Promise.resolve();
    if (fails) throw new Error('no stock');
    return this.counted(messageId);
  }

  @Track('Counted', { userId: 'u1' })
  counted(messageId: string): string {
    return messageId;
  }

  @Transactional()
  async placeWith(messageId: string, failing: string): Promise<void> {
    this.analytics.track(ordered(`${messageId} before`));
    await this.nested(failing).catch(() => undefined);
    this.analytics.track(ordered(messageId));
  }

  @Transactional(Propagation.Nested)
  async nested(messageId: string): Promise<void> {
    this.analytics.track(ordered(messageId));
    await Promise.reject(new Error('undone'));
  }

  @Transactional()
  async refused(): Promise<void> {
    this.analytics.track(tooLarge);
    await Promise.resolve();
  }

  @Transactional()
  async refusedAround(failing: () => Promise<unknown>): Promise<void> {
    this.analytics.track(tooLarge);
    await failing().catch(() => undefined);
  }

  @Transactional()
  async placeAfter(message: TrackParams): Promise<void> {
    this.analytics.track(message);
    await this.place('m1');
  }

  @Track('Outside', { userId: 'u1' })
  plain(): void {
    return undefined;
  }
}

await describeOnEach([postgresStore], () => {
  describe("With transactions: 'cls', an event of a method with @Transactional()", () => {
    const afterwards = useCleanUps();

    async function start(options: Partial<AnalyticsModuleOptions> = {}) {
      const pool = new pg.Pool({ connectionString: POSTGRES_URL });
      afterwards(() => pool.end());
      const around = { imports: [pgTransactions(pool)], providers: [Orders] };
      const application = await startTransactional(afterwards, { ...options, transactions: 'cls' }, around);
      const events = () => application.receiver.webhooks.map(({ body }) => body.event as string).sort();
      return { ...application, orders: application.relay.app.get(Orders), events };
    }

    it('is delivered if the method succeeds, also one of a decorator', async () => {
      const { orders, receiver, events } = await start();
      expect(await orders.place('m1')).toBe('m1');
      await receiver.received(3);
      expect(events()).toEqual(['Counted', 'Tracked', 'm1']);
    });

    it("is dropped if the method fails, except that of on: 'error'", async () => {
      const { orders, receiver, events, rows } = await start();
      await expect(orders.place('m1', true)).rejects.toThrow('no stock');
      await receiver.received(1);
      expect(events()).toEqual(['Failed']);
      expect(await rows()).toHaveLength(1);
    });

    it('is dropped with the savepoint of a nested method', async () => {
      const { orders, receiver, events, rows } = await start();
      await orders.placeWith('m1', 'm2');
      await receiver.received(2);
      expect(events()).toEqual(['m1', 'm1 before']);
      expect(await rows()).toHaveLength(2);
    });

    it('that cannot be written rolls the transaction back', async () => {
      const { orders } = await start();
      await expect(orders.refused()).rejects.toMatchObject({ code: 'message_too_large' });
    });

    it.each<[string, (orders: Orders) => Promise<unknown>]>([
      ['a method that joins it', (orders) => orders.place('m2', true)],
      ['a nested method', (orders) => orders.nested('m2')],
    ])('that cannot be written does so although %s failed meanwhile', async (_what, fail) => {
      const { orders } = await start();
      await expect(orders.refusedAround(() => fail(orders))).rejects.toMatchObject({ code: 'message_too_large' });
    });

    it.each<[string, Partial<AnalyticsModuleOptions>, Partial<TrackParams>]>([
      [
        "breaks the tracking plan, with violations: 'drop'",
        { trackingPlan: { events: [Paid], violations: 'drop' } },
        {},
      ],
      ["breaks a rule, with onInvalid: 'log'", { onInvalid: 'log' }, { timestamp: 'today' }],
      ['is about nobody', {}, { userId: undefined }],
    ])('that %s, is left out, and the method succeeds', async (_fault, options, fields) => {
      const { orders, receiver, events } = await start(options);
      await orders.placeAfter({ userId: 'u1', event: 'Paid', ...fields });
      await receiver.received(3);
      expect(events()).toEqual(['Counted', 'Tracked', 'm1']);
    });

    it('is recorded as before outside a transaction', async () => {
      const { orders, receiver, events } = await start();
      orders.plain();
      await receiver.received(1);
      expect(events()).toEqual(['Outside']);
    });
  });
});

describe("The option transactions: 'cls'", () => {
  const afterwards = useCleanUps();

  it('stops the start with a queue that cannot record in a transaction', async () => {
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop', transactions: 'cls' })];
    const start = Relay.start({ imports, queue: memoryQueue() });
    await expect(start).rejects.toThrow('transactions needs WebhookDestinationModule with postgresQueue()');
  });

  it('stops the start without a ClsPluginTransactional', async () => {
    await expect(startTransactional(afterwards, { transactions: 'cls' })).rejects.toThrow('ClsPluginTransactional');
  });
});
