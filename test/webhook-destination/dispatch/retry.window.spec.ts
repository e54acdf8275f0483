import { AsyncResource } from 'node:async_hooks';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { sqliteQueue } from 'nestjs-analytics-relay';
import { Subject } from 'rxjs';

import type { PooledRequest } from '../../../lib/webhook-destination/dispatch/connection-pool.js';
import type { DeliveryEvent } from '../../../lib/webhook-destination/dispatch/delivery-event.js';
import { DestinationDispatcher } from '../../../lib/webhook-destination/dispatch/destination.dispatcher.js';
import type { Pause } from '../../../lib/webhook-destination/dispatch/pause.util.js';
import { DestinationSender } from '../../../lib/webhook-destination/dispatch/destination.sender.js';
import { WebhookHeaders } from '../../../lib/webhook-destination/dispatch/webhook-headers.js';
import { toWebhookTarget } from '../../../lib/webhook-destination/dispatch/webhook-target.js';
import { DeliveryOptions } from '../../../lib/webhook-destination/dispatch/delivery.options.js';
import { DestinationOptions } from '../../../lib/webhook-destination/dispatch/destination.options.js';
import type { Delivery, DeliveryOutcome } from '../../../lib/webhook-destination/queue/delivery-queue.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const HOUR = 3_600_000;

describe('The window of four hours, in fake time', () => {
  beforeEach(() => {
    Logger.overrideLogger(false);
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** Takes one delivery from its first attempt to its end, each attempt at the moment that was asked for. */
  async function run(post: () => Promise<{ status: number; retryAfter: undefined }>, pauses: Pause[] = []) {
    const pool = {
      post: (request: PooledRequest) => {
        request.prepare(0);
        post().then(
          (response) => request.answer(response),
          (error) => request.fail(error),
        );
      },
      endWaits: () => undefined,
      close: () => Promise.resolve(),
    };
    const routes = [{ target: toWebhookTarget('https://receiver.example/hook'), pool, active: 0 }];
    const sender = new DestinationSender(new WebhookHeaders(new DestinationOptions()), routes, 1, 'spec', false);
    const events = new Subject<DeliveryEvent>();
    const dispatcher = new DestinationDispatcher(
      { name: 'Webhooks', pauses },
      sender,
      new DeliveryOptions(),
      events,
      () => Date.now(),
      undefined,
      new AsyncResource('test'),
    );
    let delivery: Delivery = {
      id: '1',
      destination: 'Webhooks',
      source: 'shop',
      messageId: 'm1',
      userId: 'u1',
      body: Buffer.from('{}'),
      acceptedAt: 0,
      firstAttemptAt: undefined,
      attempts: [],
      failedUrls: [],
    };
    let outcome: DeliveryOutcome | undefined;
    for (;;) {
      await new Promise<void>((resolve) => {
        const settle = (settled: DeliveryOutcome) => {
          outcome = settled;
          resolve();
          return Promise.resolve(true);
        };
        dispatcher.handle({ delivery, settle });
      });
      const { attempts } = delivery;
      delivery = {
        ...delivery,
        firstAttemptAt: delivery.firstAttemptAt ?? 0,
        attempts: outcome!.attempt ? [...attempts, outcome!.attempt] : attempts,
      };
      if (outcome?.state !== 'waiting') return { state: outcome!.state, delivery };
      const { nextAttemptAt } = outcome;
      const pause = pauses.find(({ from, to }) => from <= nextAttemptAt && nextAttemptAt < to!);
      jest.setSystemTime(pause?.to ?? nextAttemptAt);
    }
  }

  const failing = () => Promise.resolve({ status: 503, retryAfter: undefined });

  // With the last two, the last attempt comes less than a minute after the one before, and so before the next probe.
  it.each([0, 0.5, 1, 0.37, 0.69])(
    'ends a delivery that is never taken, with its attempts on record and the last just inside (jitter %d)',
    async (jitter) => {
      jest.spyOn(Math, 'random').mockReturnValue(jitter);
      const { state, delivery } = await run(failing);
      expect(state).toBe('dead');
      const moments = delivery.attempts.map(({ startedAt }) => startedAt);
      expect(moments.length).toBeGreaterThanOrEqual(14);
      expect(moments.length).toBeLessThanOrEqual(18);
      expect(moments[moments.length - 1]).toBe(4 * HOUR - 5_000);
    },
  );

  it('is longer by the time in which the destination was paused', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const pauses = [
      { from: HOUR, to: 10 * HOUR },
      { from: 11 * HOUR, to: 12 * HOUR },
    ];
    const { state, delivery } = await run(failing, pauses);
    expect(state).toBe('dead');
    const moments = delivery.attempts.map(({ startedAt }) => startedAt);
    expect(moments).toContain(10 * HOUR);
    expect(moments.filter((moment) => moment > HOUR && moment < 10 * HOUR)).toEqual([]);
    expect(moments[moments.length - 1]).toBe(14 * HOUR - 5_000);
  });

  it('is settled by a success that comes after its end', async () => {
    let count = 0;
    const { state, delivery } = await run(() => {
      if (Date.now() < 4 * HOUR - 5_000) return failing();
      count++;
      jest.advanceTimersByTime(8_000);
      return Promise.resolve({ status: 200, retryAfter: undefined });
    });
    expect([state, count]).toEqual(['delivered', 1]);
    expect(delivery.attempts.pop()!.results[0]!.duration).toBe(8_000);
  });

  it('ends without another attempt what is handed out after it', async () => {
    let count = 0;
    const post = () => {
      jest.setSystemTime(9 * HOUR);
      return ++count === 1 ? Promise.reject(new Error('reset')) : failing();
    };
    expect((await run(post)).state).toBe('dead');
    expect(count).toBe(1);
  });
});

describe('A short window, in real time', () => {
  const cleanUp = useCleanUps();

  it('ends with the attempts on record, and a restart does not extend it', async () => {
    const receiver = await ScriptedReceiver.start(status(500));
    cleanUp(() => receiver.stop());
    const folder = await temporaryFolder(cleanUp);
    const start = () =>
      Relay.start({
        destinations: [{ urls: [receiver.url] }],
        queue: sqliteQueue({ path: folder.path('relay.db') }),
        delivery: { retryWindow: 2_000, initialRetryDelay: 100, maxRetryDelay: 1_000 },
      });

    const first = await start();
    await first.track('m1');
    const [dead] = await first.settled('dead');
    const [{ attempts, firstAttemptAt } = { attempts: [], firstAttemptAt: 0 }] = await first.service.deliveries();
    expect(dead).toMatchObject({ attempt: attempts.length, reason: 'the retry window is over' });
    expect(attempts.length).toBeGreaterThanOrEqual(4);
    expect(attempts.length).toBe(receiver.webhooks.length);
    const lastMoment = attempts[attempts.length - 1]!.startedAt - firstAttemptAt!;
    expect(lastMoment).toBeGreaterThanOrEqual(1_700);
    expect(lastMoment).toBeLessThan(2_000);

    await first.track('m2');
    await first.settled('retry', 5);
    await first.app.close();
    const count = receiver.webhooks.length;
    const end = Date.now() + 2_000;
    await waitFor(() => Date.now() > end);
    const second = await start();
    cleanUp(() => second.stop());
    expect(await second.settled('dead')).toMatchObject([{ messageId: 'm2', results: [] }]);
    expect(receiver.webhooks).toHaveLength(count);
  });
});
