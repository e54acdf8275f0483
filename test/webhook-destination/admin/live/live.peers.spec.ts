import { Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { LiveEvent, LiveFilter } from '../../../../lib/webhook-destination/admin/live/live.event.js';
import { LivePeers } from '../../../../lib/webhook-destination/admin/live/live.peers.js';

describe('LivePeers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A process whose channel leads to the test. */
  function start(filters: LiveFilter[] = []) {
    const own$ = new Subject<LiveEvent>();
    const received$ = new Subject<string>();
    const sent: string[] = [];
    const send = (text: string) => Promise.resolve(void sent.push(text));
    const peers = new LivePeers({ received$, send }, own$, () => filters);
    peers.open();
    const ask = (fields: object) => received$.next(JSON.stringify({ ask: true, ...fields }));
    /** Which of these kinds are sent, and how many events are missed. */
    const share = (...events: Partial<LiveEvent>[]) => {
      events.forEach((event) => own$.next({ kind: 'message', at: 1, source: 'shop', ...event }));
      vi.advanceTimersByTime(100);
      const text = sent.splice(0).at(-1);
      if (text === undefined) return undefined;
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(5_800);
      const answer = JSON.parse(text) as { events: LiveEvent[]; missed: number };
      return { kinds: answer.events.map(({ kind }) => kind), missed: answer.missed };
    };
    return { peers, sent, ask, share };
  }

  it('sends what passes a filter of any process, and forgets those that ask no more', () => {
    const { ask, share } = start();
    ask({ from: 'a', filters: [{ kind: 'dead' }] });
    ask({ from: 'b', filters: [{ kind: 'retry' }] });
    const events = [{ kind: 'dead' }, { kind: 'retry' }, { kind: 'delivered' }] as const;
    expect(share(...events)).toEqual({ kinds: ['dead', 'retry'], missed: 0 });
    ask({ from: 'b', filters: [{ kind: 'delivered' }] });
    expect(share(...events)).toEqual({ kinds: ['dead', 'delivered'], missed: 0 });
    vi.advanceTimersByTime(10_000);
    ask({ from: 'a', filters: [{ kind: 'dead' }] });
    vi.advanceTimersByTime(10_000);
    expect(share(...events)).toEqual({ kinds: ['dead'], missed: 0 });
    vi.advanceTimersByTime(10_000);
    expect(share(...events)).toBeUndefined();
  });

  it('sends all events to those that ask without filters, or with more than it compares', () => {
    const many = Array.from({ length: 101 }, () => ({ kind: 'dead' }));
    for (const fields of [{}, { filters: 'all' }, { filters: [1] }, { filters: many }]) {
      const { ask, share } = start();
      ask(fields);
      expect(share({ kind: 'retry' })).toEqual({ kinds: ['retry'], missed: 0 });
    }
  });

  it('asks for all events where the filters are too long for a text', () => {
    for (const [length, hasFilters] of [
      [10, true],
      [4_000, false],
    ] as const) {
      const { peers, sent } = start([{ event: '"'.repeat(length) }]);
      peers.ask();
      expect('filters' in (JSON.parse(sent[0]!) as object)).toBe(hasFilters);
    }
  });

  it('fills a text up to what the channel takes', () => {
    const { ask, share } = start();
    ask({});
    const { kinds, missed } = share(...Array.from({ length: 100 }, () => ({ event: '"\\é\n'.repeat(30) })))!;
    expect(kinds.length).toBeGreaterThan(5);
    expect(kinds.length + missed).toBe(100);
  });
});
