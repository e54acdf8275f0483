import { AsyncResource } from 'node:async_hooks';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';

import type { PooledRequest } from '../../../lib/webhook-destination/dispatch/connection-pool.js';
import type { DeliveryEvent } from '../../../lib/webhook-destination/dispatch/delivery-event.js';
import { DestinationDispatcher } from '../../../lib/webhook-destination/dispatch/destination.dispatcher.js';
import { DestinationSender } from '../../../lib/webhook-destination/dispatch/destination.sender.js';
import { WebhookHeaders } from '../../../lib/webhook-destination/dispatch/webhook-headers.js';
import { toWebhookTarget } from '../../../lib/webhook-destination/dispatch/webhook-target.js';
import { DeliveryOptions } from '../../../lib/webhook-destination/dispatch/delivery.options.js';
import { DestinationOptions } from '../../../lib/webhook-destination/dispatch/destination.options.js';
import type { DeliveryOutcome, Lease } from '../../../lib/webhook-destination/queue/delivery-queue.interface.js';

const MINUTE = 60_000;
const WINDOW = 240 * MINUTE;

describe('A destination that is down for longer than the retry window, in fake time', () => {
  beforeEach(() => {
    Logger.overrideLogger(false);
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** What the dispatcher consumes, as `concurrency` or `concurrency until moment`; the subject hands deliveries out. */
  function start() {
    const consumed: string[] = [];
    let leases = new Subject<Lease>();
    const consume = (_: string, concurrency: number, windowBefore?: number): Observable<Lease> => {
      consumed.push(windowBefore === undefined ? `${concurrency}` : `${concurrency} until ${windowBefore}`);
      return (leases = new Subject<Lease>());
    };
    const pool = {
      post: (request: PooledRequest) => {
        request.prepare(0);
        request.answer({ status: 503 });
      },
      endWaits: () => undefined,
      close: () => Promise.resolve(),
    };
    const routes = [{ target: toWebhookTarget('https://receiver.example/hook'), pool, active: 0 }];
    const sender = new DestinationSender(new WebhookHeaders(new DestinationOptions()), routes, 1, 'spec', false);
    const options = new DeliveryOptions();
    const dispatcher = new DestinationDispatcher(
      { name: 'Webhooks' },
      sender,
      options,
      new Subject<DeliveryEvent>(),
      () => Date.now(),
      undefined,
      new AsyncResource('test'),
    );
    dispatcher.start({ consume });
    /** Hands a delivery out and resolves with its outcome. */
    const hand = (acceptedAt = Date.now(), firstAttemptAt?: number) =>
      new Promise<DeliveryOutcome>((resolve) => {
        const delivery = {
          id: '1',
          destination: 'Webhooks',
          source: 'shop',
          messageId: 'm1',
          userId: undefined,
          body: Buffer.from('{}'),
          acceptedAt,
          firstAttemptAt,
          attempts: [],
          failedUrls: [],
        };
        leases.next({ delivery, settle: (outcome) => Promise.resolve(Boolean(resolve(outcome!) ?? true)) });
      });
    return { consumed, hand, isConsumed: () => leases.observed };
  }

  it('takes none between probes, and then only those whose window is over, which are dead', async () => {
    const { consumed, hand, isConsumed } = start();
    for (let count = 0; count < 10; count++) await hand();
    expect([consumed, isConsumed()]).toEqual([['64'], false]);

    jest.advanceTimersByTime(10_000);
    expect(consumed.splice(0)).toEqual(['64', '8']);
    expect((await hand()).attempt).toBeDefined();
    const held = await hand();
    expect([held.state, held.attempt, isConsumed()]).toEqual(['waiting', undefined, false]);
    expect(consumed).toEqual([]);

    // One that was accepted since is tried as the next probe, which does not begin its window anew.
    const acceptedAt = Date.now();
    jest.advanceTimersByTime(20_000);
    expect(consumed.splice(0)).toEqual(['8']);
    expect(await hand(acceptedAt)).toMatchObject({ state: 'waiting', attempt: {}, firstAttemptAt: acceptedAt });
    await hand();

    jest.advanceTimersByTime(WINDOW);
    expect(consumed.splice(0)).toEqual(['8']);
    const now = Date.now();
    // As one that is replayed after all that time: its new window has just begun.
    expect((await hand(0, now)).attempt).toBeDefined();
    expect((await hand()).state).toBe('waiting');
    expect(consumed).toEqual([`8 until ${now - WINDOW}`]);
    expect(await hand(now - WINDOW)).toMatchObject({
      state: 'dead',
      reason: expect.stringContaining('window is over'),
    });
  });
});
