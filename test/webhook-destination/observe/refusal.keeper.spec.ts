import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Acceptance, Refusal } from '../../../lib/webhook-destination/ingest/ingest.result.js';
import { ParsedMessage } from '../../../lib/webhook-destination/ingest/parsed-message.js';
import { RefusalKeeper } from '../../../lib/webhook-destination/observe/refusal.keeper.js';
import type { NewRefusal } from '../../../lib/webhook-destination/queue/kept-refusals.js';

const accepted$ = new Subject<Acceptance>();
const kept: NewRefusal[][] = [];
const flushes = new Set<() => Promise<void>>();
let answer: () => Promise<boolean>;
let keeper: RefusalKeeper;
const warned = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  kept.length = 0;
  warned.mockClear();
  answer = () => Promise.resolve(true);
  const keep = (refusals: NewRefusal[]) => {
    kept.push(refusals);
    return answer();
  };
  keeper = new RefusalKeeper({ keep, areKept: true, flushes }, accepted$, new Subject<Refusal>());
});
afterEach(async () => {
  const closed = keeper.close();
  await vi.runAllTimersAsync();
  await closed;
  vi.useRealTimers();
});

/** Refuses messages of a source, of which each has a text of a length. */
function refuse(count: number, length = 0): void {
  const message = { type: 'track', userId: 'u1', properties: { text: 'x'.repeat(length) } };
  const fault = { field: 'event', code: 'event_not_string', message: 'event must be a string' } as const;
  const refused = Array.from({ length: count }, () => ({ posted: new ParsedMessage(message), fault }));
  const nothing = { messages: [], duplicates: [], deliveries: [], repeated: [], rejected: [] };
  const destinationsOf = () => ({ destinations: [], repeated: [] });
  accepted$.next({ source: 'shop', ...nothing, refused, destinationsOf });
}

const sizes = () => kept.map(({ length }) => length);

it('keeps at most 100 messages in a second, and says once a minute how many were only counted', async () => {
  refuse(2_500);
  await vi.advanceTimersByTimeAsync(900);
  refuse(50);
  expect(sizes()).toEqual([100]);
  await vi.advanceTimersByTimeAsync(100);
  refuse(60);
  await vi.advanceTimersByTimeAsync(300);
  refuse(50);
  await vi.advanceTimersByTimeAsync(300);
  expect(sizes()).toEqual([100, 60, 40]);
  const lines = warned.mock.calls.map(([line]) => String(line));
  expect(lines).toEqual([expect.stringMatching(/^Refused messages that were only counted.*: 2400$/)]);
  const ids = kept.flat().map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
});

it('reads at most 1 MB of texts in a second, and one more', async () => {
  refuse(50, 256 * 1024);
  await vi.advanceTimersByTimeAsync(300);
  expect(sizes()).toEqual([4]);
  expect(kept[0]![0]).toMatchObject({ isWhole: false, userIds: ['u1'] });
  expect(kept[0]![0]!.text).toHaveLength(32 * 1024);
});

it('writes one group at a time, holds 200 messages meanwhile, and drops what the store cannot take', async () => {
  let end!: (error: Error) => void;
  answer = () => new Promise((_, reject) => (end = reject));
  for (let second = 0; second < 4; second++) {
    refuse(100);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(sizes()).toEqual([100]);
  answer = () => Promise.resolve(true);
  end(new Error('away'));
  await vi.advanceTimersByTimeAsync(300);
  expect(sizes()).toEqual([100, 100]);
  expect(warned.mock.calls.map(([line]) => String(line))).toEqual([expect.stringMatching(/: 300$/)]);
});

it('writes the last ones when it closes', async () => {
  refuse(1);
  await keeper.close();
  expect(sizes()).toEqual([1]);
});

it('writes what waits when a deletion asks for it', async () => {
  refuse(3);
  await Promise.all([...flushes].map((flush) => flush()));
  expect(sizes()).toEqual([3]);
  await keeper.close();
  expect(flushes.size).toBe(0);
});
