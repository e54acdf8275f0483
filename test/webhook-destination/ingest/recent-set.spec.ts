import { describe, expect, it } from '@jest/globals';

import { RecentSet } from '../../../lib/webhook-destination/ingest/recent-set.js';

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
