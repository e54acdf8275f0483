import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { RateLimiter } from '../../../lib/webhook-destination/ingest/rate.limiter.js';

describe('RateLimiter', () => {
  afterEach(() => void jest.restoreAllMocks());

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

  it('makes nobody wait longer because the clock was set back', () => {
    const limiter = new RateLimiter({ limit: 1, ttl: 60_000 });
    limiter.count('shop');
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    expect(limiter.count('shop')).toBeLessThanOrEqual(60_000);
  });
});
