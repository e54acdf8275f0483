import { Logger } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { DeliveryOutcome, Lease } from '../../../lib/webhook-destination/queue/delivery.interface.js';
import { fakeTimers } from '../../support/clock.js';
import { createLoop } from '../../support/destination-loop.js';

const MINUTE = 60_000;
const WINDOW = 240 * MINUTE;

describe('A destination that is down for longer than the retry window, in fake time', () => {
  beforeEach(() => {
    Logger.overrideLogger(false);
    fakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns the concurrency of each consumption; the subject hands deliveries out. */
  function start() {
    const consumed: number[] = [];
    let leases = new Subject<Lease>();
    const consume = (_: string, concurrency: number): Observable<Lease> => {
      consumed.push(concurrency);
      return (leases = new Subject<Lease>());
    };
    const loop = createLoop((request) => {
      request.prepare(0);
      request.answer({ status: 503 });
    });
    loop.start({ consume });
    /** Hands a delivery out and resolves with its outcome. */
    const hand = (acceptedAt = Date.now(), firstAttemptAt?: number) =>
      new Promise<DeliveryOutcome | undefined>((resolve) => {
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
        leases.next({
          delivery,
          isWithdrawn: false,
          settle: (outcome) => Promise.resolve(Boolean(resolve(outcome) ?? true)),
        });
      });
    return { consumed, hand, isConsumed: () => leases.observed };
  }

  it('takes none between probes, and returns all others as they were', async () => {
    const { consumed, hand, isConsumed } = start();
    for (let count = 0; count < 10; count++) await hand();
    expect([consumed, isConsumed()]).toEqual([[64], false]);

    vi.advanceTimersByTime(10_000);
    expect(consumed.splice(0)).toEqual([64, 8]);
    expect(await hand()).toMatchObject({ state: 'waiting', attempt: {} });
    expect([await hand(), isConsumed()]).toEqual([undefined, false]);
    vi.advanceTimersByTime(20_000);
    expect(consumed).toEqual([8]);
  });

  it('tries each delivery before it is dead, at the full concurrency once their last attempts are due', async () => {
    const { consumed, hand, isConsumed } = start();
    for (let count = 0; count < 10; count++) await hand();
    vi.advanceTimersByTime(WINDOW - 10_000);
    consumed.splice(0);
    expect(await hand(0)).toMatchObject({ state: 'waiting' }); // the probe
    expect(await hand(0)).toBeUndefined();

    vi.advanceTimersByTime(MINUTE);
    expect(consumed.splice(0)).toEqual([8]);
    const dead = { state: 'dead', reason: 'the retry window is over', attempt: { results: [{ status: 503 }] } };
    for (let count = 0; count < 100; count++) expect(await hand(0)).toMatchObject(dead);
    expect(await hand(Date.now(), 0)).toMatchObject(dead); // with attempts
    expect([consumed.splice(0), isConsumed()]).toEqual([[64], true]);

    // Replayed after all that time: its new window has just begun.
    expect(await hand(0, Date.now())).toBeUndefined();
    expect(isConsumed()).toBe(false);
  });
});
