import { Logger } from '@nestjs/common';
import { sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Pause } from '../../../lib/webhook-destination/dispatch/pause.util.js';
import type { Delivery, DeliveryOutcome } from '../../../lib/webhook-destination/queue/delivery.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { fakeTimers } from '../../support/clock.js';
import { createLoop } from '../../support/destination-loop.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const HOUR = 3_600_000;

describe('The window of four hours, in fake time', () => {
  beforeEach(() => {
    Logger.overrideLogger(false);
    fakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Takes one delivery from its first attempt to its end, each attempt at the moment that was asked for. */
  async function run(
    post: () => Promise<{ status: number; retryAfter: undefined }>,
    pauses: Pause[] = [],
    replayed: Partial<Delivery> = {},
    retryWindow?: number,
  ) {
    const loop = createLoop(
      (request) => {
        request.prepare(0);
        post().then(
          (response) => request.answer(response),
          (error) => request.fail(error),
        );
      },
      { pauses, ...(retryWindow && { retryWindow }) },
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
      ...replayed,
    };
    let outcome: DeliveryOutcome | undefined;
    for (;;) {
      await new Promise<void>((resolve) => {
        const settle = (settled: DeliveryOutcome) => {
          outcome = settled;
          resolve();
          return Promise.resolve(true);
        };
        loop.handle({ delivery, isWithdrawn: false, settle });
      });
      const { attempts } = delivery;
      delivery = {
        ...delivery,
        firstAttemptAt: delivery.firstAttemptAt ?? outcome!.attempt!.startedAt,
        attempts: outcome!.attempt ? [...attempts, outcome!.attempt] : attempts,
      };
      if (outcome?.state !== 'waiting') return { state: outcome!.state, delivery };
      const { nextAttemptAt } = outcome;
      const pause = pauses.find(({ from, to }) => from <= nextAttemptAt && nextAttemptAt < to!);
      vi.advanceTimersByTime((pause?.to ?? nextAttemptAt) - Date.now());
    }
  }

  const failing = () => Promise.resolve({ status: 503, retryAfter: undefined });

  // With the last two, the last attempt comes less than a minute after the one before, and so before the next probe.
  it.each([0, 0.5, 1, 0.37, 0.69])(
    'ends a delivery that is never taken, with its attempts on record and the last just inside (jitter %d)',
    async (jitter) => {
      vi.spyOn(Math, 'random').mockReturnValue(jitter);
      const { state, delivery } = await run(failing);
      expect(state).toBe('dead');
      const moments = delivery.attempts.map(({ startedAt }) => startedAt);
      expect(moments.length).toBeGreaterThanOrEqual(14);
      expect(moments.length).toBeLessThanOrEqual(18);
      expect(moments[moments.length - 1]).toBe(4 * HOUR - 5_000);
    },
  );

  it('is longer by the time in which the destination was paused', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
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

  it("is the destination's own if it has one, up to seven days", async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { state, delivery } = await run(failing, [], {}, 7 * 24 * HOUR);
    const { attempts } = delivery;
    expect([state, attempts.length, attempts.at(-1)!.startedAt]).toEqual(['dead', 344, 7 * 24 * HOUR - 5_000]);
  });

  it('is settled by a success that comes after its end', async () => {
    let count = 0;
    const { state, delivery } = await run(() => {
      if (Date.now() < 4 * HOUR - 5_000) return failing();
      count++;
      vi.advanceTimersByTime(8_000);
      return Promise.resolve({ status: 200, retryAfter: undefined });
    });
    expect([state, count]).toEqual(['delivered', 1]);
    expect(delivery.attempts.pop()!.results[0]!.duration).toBe(8_000);
  });

  it('ends with one last attempt if it was over while the process was stopped, in flight or not', async () => {
    let count = 0;
    const post = () => {
      if (++count === 1) vi.advanceTimersByTime(9 * HOUR);
      return failing();
    };
    const { state, delivery } = await run(post);
    expect([state, delivery.attempts.map(({ startedAt }) => startedAt)]).toEqual(['dead', [0, 9 * HOUR]]);

    const attempts = [{ startedAt: 0, results: [] }];
    const later = await run(failing, [], { firstAttemptAt: 0, attempts });
    expect([later.state, later.delivery.attempts.length]).toEqual(['dead', 2]);
  });

  it('is not shorter by the time that the clock jumped ahead', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    let count = 0;
    const { state, delivery } = await run(() => {
      if (++count === 5) vi.setSystemTime(Date.now() + 5 * HOUR);
      return failing();
    });
    expect(state).toBe('dead');
    const seconds = delivery.attempts.map(({ startedAt }) => startedAt / 1_000 - (startedAt < 5 * HOUR ? 0 : 18_000));
    expect(seconds).toEqual([0, 10, 30, 70, 150, 310, 630, 1270, 2550, 4350, 6150, 7950, 9750, 11_550, 13_350, 14_395]);
  });

  it('begins with the first wait again after a replay, whatever was attempted before', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const attempts = Array.from({ length: 16 }, (_, index) => ({ startedAt: -index - 1, results: [] })).reverse();
    const { delivery } = await run(failing, [], { firstAttemptAt: 0, attempts });
    const seconds = delivery.attempts.slice(16).map(({ startedAt }) => startedAt / 1_000);
    expect(seconds.slice(0, 5)).toEqual([0, 10, 30, 70, 150]);
    expect(seconds).toHaveLength(16);
  });
});

describe('A short window, in real time', () => {
  const cleanUp = useCleanUps();

  it('ends with the attempts on record; if it is over at a restart, one last attempt is made', async () => {
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
    expect(await second.settled('dead')).toMatchObject([{ messageId: 'm2', results: [{ status: 500 }] }]);
    expect(receiver.webhooks).toHaveLength(count + 1);
  });

  it('is that of the destination, where it has one', async () => {
    const receiver = await ScriptedReceiver.start(status(500));
    cleanUp(() => receiver.stop());
    const urls = [receiver.url];
    const relay = await Relay.start({
      destinations: [
        { name: 'short', urls, retryWindow: 500 },
        { name: 'long', urls, retryWindow: 604_800_000 },
      ],
      delivery: { retryWindow: 1_000, initialRetryDelay: 100, maxRetryDelay: 400 },
    });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    expect(await relay.settled('dead')).toMatchObject([{ destination: 'short', reason: 'the retry window is over' }]);
    const attemptsOf = (name: string) => relay.events.filter(({ destination }) => destination === name).length;
    await waitFor(() => attemptsOf('long') >= 6); // delivery.retryWindow has ended by then
    expect(await relay.settled('dead')).toHaveLength(1);
  });
});
