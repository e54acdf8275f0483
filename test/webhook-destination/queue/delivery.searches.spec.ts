import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DeliverySearches } from '../../../lib/webhook-destination/queue/delivery.searches.js';

/** Resolves after so many ms. */
const taking = (time: number) => () => new Promise<void>((resolve) => void setTimeout(resolve, time));

describe('A read in turn with the searches', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function startOfNext(time: number): Promise<number> {
    const searches = new DeliverySearches({ search: () => Promise.resolve({ deliveries: [], next: undefined }) });
    const begun = Date.now();
    const first = searches.inTurn(taking(time));
    const next = searches.inTurn(() => Promise.resolve(Date.now() - begun));
    await vi.runAllTimersAsync();
    await first;
    return next;
  }

  it('is followed by a pause as long as it took', async () => {
    expect(await startOfNext(40)).toBe(80);
  });

  it('is followed by a pause of at most 100 ms, so that searches do not wait for it', async () => {
    expect(await startOfNext(2_000)).toBe(2_100);
  });
});
