import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { shareCalls } from '../../../lib/webhook-destination/observe/queue.figures.js';

describe('shareCalls', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Something that takes so many ms to answer. */
  function create(takes: number) {
    let asked = 0;
    const ask = shareCalls(async () => {
      asked++;
      await vi.advanceTimersByTimeAsync(takes);
      return asked;
    });
    return { ask, asked: () => asked };
  }

  it('asks once for all that ask meanwhile', async () => {
    const { ask } = create(10);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  });

  it.each([
    [1, 300],
    [40, 12_000],
    [2_000, 15_000],
  ])('uses what took %i ms for %i ms', async (takes, reuse) => {
    const { ask, asked } = create(takes);
    await ask();
    vi.advanceTimersByTime(reuse - 1);
    await ask();
    expect(asked()).toBe(1);
    vi.advanceTimersByTime(1);
    await ask();
    expect(asked()).toBe(2);
  });

  it.each([
    ['rejects', (fault: Error) => Promise.reject<string>(fault)],
    [
      'throws',
      (fault: Error) => {
        throw fault;
      },
    ],
  ])('asks again after a call that %s', async (_, fail) => {
    let fault: Error | undefined;
    const ask = shareCalls(() => (fault ? fail(fault) : Promise.resolve('here')));
    await ask();
    vi.advanceTimersByTime(15_000);
    fault = new Error('the store is gone');
    await expect(ask()).rejects.toBe(fault);
    fault = undefined;
    expect(await ask()).toBe('here');
  });
});
