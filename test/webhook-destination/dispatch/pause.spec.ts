import { describe, expect, it } from 'vitest';

import { timeWithin } from '../../../lib/webhook-destination/dispatch/pause.util.js';

describe('Paused time', () => {
  const pauses = [{ from: 100, to: 200 }, { from: 300, to: 310 }, { from: 900 }];

  it.each<[number, number, number]>([
    [0, 100, 0],
    [0, 150, 50],
    [120, 150, 30],
    [150, 250, 50],
    [0, 400, 110],
    [250, 280, 0],
    [0, 950, 160],
    [1_000, 1_100, 100],
  ])('between %d and %d is %d ms', (since, until, paused) => {
    expect(timeWithin(pauses, since, until)).toBe(paused);
  });

  it('counts time once that is in several periods, in any order', () => {
    expect(timeWithin([{ from: 300 }, { from: 100, to: 400 }, { from: 150, to: 200 }], 0, 500)).toBe(400);
  });
});
