import { expect, it } from 'vitest';

import { rateOf } from '../../dashboard/pages/sources/source.answer.js';

const INTERVAL = 600_000;

it('The rate of a source is that of the last 20 minutes, and never rises once it has stopped', () => {
  const figures = { lastSeenAt: null, accepted: 96, duplicate: 0, refused: {}, interval: INTERVAL };
  const points = [{ at: 0, accepted: 96, refused: 0 }];
  const rateAfter = (minutes: number) => rateOf({ ...figures, points }, minutes * 60_000);
  expect([1, 10, 19, 20, 25, 30, 60].map(rateAfter)).toEqual([4.8, 4.8, 4.8, 4.8, 2.4, 0, 0]);
});
