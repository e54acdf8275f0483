import { describe, expect, it } from 'vitest';

import { lastAttemptAt, nextAttemptAt } from '../../../lib/webhook-destination/dispatch/retry-schedule.util.js';
import { parseRetryAfter } from '../../../lib/client/retry-after.util.js';
import { DeliveryOptions } from '../../../lib/webhook-destination/dispatch/delivery.options.js';

const HOUR = 3_600_000;
const options = new DeliveryOptions();

/** The moments of all attempts of a delivery whose attempts fail at once, in ms from the first. */
function moments(random: () => number): number[] {
  const all = [0];
  for (;;) {
    const now = all[all.length - 1]!;
    const next = nextAttemptAt({ startedAt: now, now, attempts: all.length, firstAttemptAt: 0 }, options, random);
    if (next === undefined) return all;
    all.push(next);
  }
}

describe('The retry schedule', () => {
  it('doubles from 10 s to 30 min, and ends just inside four hours', () => {
    const seconds = moments(() => 0.5).map((moment) => moment / 1000);
    expect(seconds).toEqual([0, 10, 30, 70, 150, 310, 630, 1270, 2550, 4350, 6150, 7950, 9750, 11_550, 13_350, 14_395]);
  });

  it.each([0, 0.25, 0.75, 0.999999])('stays within 20 %% of that and inside four hours (random %d)', (random) => {
    const all = moments(() => random);
    const expected = [10, 20, 40, 80, 160, 320, 640, 1280, 1800].map((delay) => delay * 1000);
    expected.forEach((delay, index) => {
      const wait = all[index + 1]! - all[index]!;
      expect(wait).toBeGreaterThanOrEqual(delay * 0.8);
      expect(wait).toBeLessThanOrEqual(delay * 1.2);
    });
    expect(Math.max(...all)).toBe(4 * HOUR - 5_000);
  });

  it('spreads what failed at one moment', () => {
    const next = () => nextAttemptAt({ startedAt: 0, now: 0, attempts: 9, firstAttemptAt: 0 }, options);
    expect(new Set(Array.from({ length: 100 }, next)).size).toBeGreaterThan(90);
  });

  it('is raised by Retry-After, never lowered, and never past the window', () => {
    const ask = (retryAfter: number) =>
      nextAttemptAt({ startedAt: 0, now: 0, attempts: 1, firstAttemptAt: 0, retryAfter }, options, () => 0.5);
    expect(ask(60_000)).toBe(60_000);
    expect(ask(1_000)).toBe(10_000);
    expect(ask(5 * HOUR)).toBe(lastAttemptAt(0, options.retryWindow));
    expect(ask(-1)).toBe(10_000);
  });

  it('counts the window from the first attempt, whatever was in between', () => {
    const next = (now: number) => nextAttemptAt({ startedAt: now, now, attempts: 3, firstAttemptAt: 0 }, options);
    expect(next(4 * HOUR - 9_000)).toBe(4 * HOUR - 5_000);
    expect(next(4 * HOUR - 5_500)).toBeUndefined();
    expect(next(9 * HOUR)).toBeUndefined();
  });

  it('has a last attempt after one that was in flight while the process was stopped', () => {
    const next = (startedAt: number) =>
      nextAttemptAt({ startedAt, now: 9 * HOUR, attempts: 3, firstAttemptAt: 0 }, options);
    expect(next(HOUR)).toBe(9 * HOUR);
    expect(next(4 * HOUR - 9_000)).toBeUndefined();
  });

  it('keeps the last attempt inside a short window', () => {
    expect(lastAttemptAt(0, 500)).toBe(450);
  });

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-70 00:01:00 GMT', 60_000],
    ['soon', undefined],
    ['3600.5', undefined],
    ['-60', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads Retry-After %j', (header, expected) => {
    expect(parseRetryAfter(header, 0)).toBe(expected);
  });
});
