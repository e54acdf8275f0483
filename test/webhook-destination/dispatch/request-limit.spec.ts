import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { RequestLimit } from '../../../lib/webhook-destination/dispatch/request-limit.js';

describe('RequestLimit', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  const create = (requests: number, per: number) => new RequestLimit({ requests, per }, () => Date.now());

  /** Makes requests as soon as they are admitted, `count` at a time; returns the moments at which they were made. */
  function request(limit: RequestLimit, times: number, count = 1): number[] {
    const moments: number[] = [];
    const make = () => {
      for (let index = 0; index < count; index++) limit.begin();
      moments.push(Date.now());
    };
    for (let index = 0; index < times; index++) {
      if (limit.admits(count)) make();
      else void limit.wait(count).then((isAdmitted) => isAdmitted && make());
    }
    return moments;
  }

  it('admits as many as it says within any stretch of time, and the others in their turn', async () => {
    const limit = create(3, 1_000);
    const moments = request(limit, 2);
    await vi.advanceTimersByTimeAsync(600);
    moments.push(...request(limit, 1));
    const waiting = request(limit, 5);
    await vi.advanceTimersByTimeAsync(399);
    expect(waiting).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    // A window of fixed length would have let five pass between 600 and 1,000.
    expect([moments, waiting]).toEqual([
      [0, 0, 600],
      [1_000, 1_000, 1_600, 2_000, 2_000],
    ]);
  });

  it('never admits more, whatever comes when', async () => {
    const limit = create(7, 500);
    const moments: number[][] = [];
    let seed = 1;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 400; round++) {
      const count = 1 + Math.floor(random() * 3);
      const made = request(limit, Math.floor(random() * 3), count);
      moments.push(...Array.from({ length: count }, () => made));
      await vi.advanceTimersByTimeAsync(Math.floor(random() * 200));
    }
    await vi.advanceTimersByTimeAsync(1_000_000);
    const all = moments.flat().sort((one, other) => one - other);
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter((moment, index) => moment - (all[index - 7] ?? -Infinity) < 500)).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps the place of a request until it is made, and counts from then', async () => {
    const limit = create(1, 1_000);
    expect(limit.admits(1)).toBe(true);
    const waiting = request(limit, 1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(waiting).toEqual([]);
    limit.begin();
    await vi.advanceTimersByTimeAsync(999);
    expect(waiting).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting).toEqual([6_000]);
  });

  it('gives the place of a request that is not made to the next', async () => {
    const limit = create(1, 1_000);
    expect(limit.admits(1)).toBe(true);
    const waiting = request(limit, 1);
    limit.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(waiting).toEqual([0]);
  });

  it('lets those that need several places wait until there are as many, and none overtake them', async () => {
    const limit = create(2, 1_000);
    request(limit, 1);
    await vi.advanceTimersByTimeAsync(300);
    const pair = request(limit, 1, 2);
    const single = request(limit, 1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([pair, single]).toEqual([[1_000], [2_000]]);
  });

  it('says how long further requests would wait, behind those that wait already', async () => {
    const limit = create(2, 1_000);
    expect([limit.waitOf(1), limit.waitOf(2)]).toEqual([0, 0]);
    request(limit, 1);
    await vi.advanceTimersByTimeAsync(400);
    expect(limit.waitOf(2)).toBe(600);
    request(limit, 1);
    expect([limit.waitOf(1), limit.waitOf(2)]).toEqual([600, 1_000]);
    request(limit, 2);
    expect(limit.waitOf(1)).toBe(1_600);
  });

  it('ends all waits, and has no timer then', async () => {
    const limit = create(1, 1_000);
    request(limit, 1);
    expect(vi.getTimerCount()).toBe(0);
    const waits = [limit.wait(1), limit.wait(1)];
    expect(vi.getTimerCount()).toBe(1);
    limit.endWaits();
    expect(await Promise.all(waits)).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
    expect(limit.admits(1)).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(limit.admits(1)).toBe(true);
  });

  it('wakes once for each moment, whatever fraction of a millisecond it is', async () => {
    const limit = create(1, 0.4);
    const now = vi.fn(() => Date.now());
    const counted = new RequestLimit({ requests: 1, per: 1_000 }, now);
    request(limit, 1);
    const waiting = request(limit, 1);
    request(counted, 1);
    now.mockClear();
    const later = request(counted, 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([waiting, later]).toEqual([[1], [1_000]]);
    expect(now.mock.calls.length).toBeLessThan(8);
  });
});
