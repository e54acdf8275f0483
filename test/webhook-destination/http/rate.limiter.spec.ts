import { afterEach, describe, expect, it, vi } from 'vitest';

import { RateLimiter, RecentSet } from '../../../lib/webhook-destination/http/rate.limiter.js';

describe('RateLimiter', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('tells how long a source past its limit must wait, which then begins anew', () => {
    const limiter = new RateLimiter({ limit: 2, ttl: 60_000 });
    expect([limiter.count('shop', 0), limiter.count('shop', 1), limiter.count('shop', 2)]).toEqual([
      undefined,
      undefined,
      59_998,
    ]);
    expect(limiter.count('blog', 2)).toBeUndefined();
    expect(limiter.count('shop', 59_999)).toBe(1);
    expect(limiter.count('shop', 60_000)).toBeUndefined();
  });

  it('tells how long to wait without counting', () => {
    const limiter = new RateLimiter({ limit: 1, ttl: 60_000 });
    expect([limiter.wait('shop', 0), limiter.wait('shop', 0)]).toEqual([undefined, undefined]);
    limiter.count('shop', 0);
    expect([limiter.wait('shop', 10), limiter.wait('shop', 60_000)]).toEqual([59_990, undefined]);
  });

  it('keeps a bounded number of windows, and forgets those first that end first', () => {
    const limiter = new RateLimiter({ limit: 1, ttl: 60_000 });
    for (let address = 0; address < 200_000; address++) limiter.count(`${address}`, address / 10_000);
    expect([limiter.wait('149999', 30), limiter.wait('150000', 30), limiter.wait('199999', 30)]).toEqual([
      undefined,
      expect.any(Number),
      expect.any(Number),
    ]);
  });

  it('forgets windows that have ended', () => {
    const limiter = new RateLimiter({ limit: 1, ttl: 60_000 });
    for (let address = 0; address < 1_000; address++) limiter.count(`${address}`, 0);
    limiter.count('another', 60_000);
    const { windows } = limiter as unknown as { windows: Map<string, unknown> };
    expect([...windows.keys()]).toEqual(['another']);
  });

  it('makes nobody wait longer because the clock was set back', () => {
    const limiter = new RateLimiter({ limit: 1, ttl: 60_000 });
    limiter.count('shop');
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    expect(limiter.count('shop')).toBeLessThanOrEqual(60_000);
  });
});

describe('RecentSet', () => {
  it('remembers what was added or asked for last, and forgets the rest', () => {
    const set = new RecentSet(10);
    set.add('office');
    for (let i = 0; i < 1_000; i++) {
      set.add(`visitor ${i}`);
      expect(set.has('office')).toBe(true);
    }
    const known = Array.from({ length: 1_000 }, (_, i) => i).filter((i) => set.has(`visitor ${i}`));
    expect(known.length).toBeGreaterThanOrEqual(9);
    expect(known.length).toBeLessThanOrEqual(20);
    expect(known.at(-1)).toBe(999);
  });
});
