import { describe, expect, it, vi } from 'vitest';
import type { Answer } from './support/collector.js';
import { collect, create, event, tracked } from './support/harness.js';

const hang: Answer = () => undefined;

/** Answers that are given when the test says so. */
function held(): { answer: Answer; release: () => void } {
  const waiting: (() => void)[] = [];
  let released = false;
  return {
    answer: (response) => {
      const end = () => void response.writeHead(200).end('{}');
      if (released) end();
      else waiting.push(end);
    },
    release: () => {
      released = true;
      for (const end of waiting) end();
    },
  };
}

describe('flush', () => {
  it('resolves at once where there is nothing to send', async () => {
    const collector = await collect();
    await create({ host: collector.url }).flush();
    expect(collector.requests).toHaveLength(0);
  });

  it('delivers all that was recorded when it was called, and resolves when that is done', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const callback = vi.fn();
    for (let i = 0; i < 40; i++) analytics.track(event(), callback);
    await analytics.flush();
    expect(collector.messages).toHaveLength(40);
    expect(callback).toHaveBeenCalledTimes(40);
    expect(analytics.pendingCount).toBe(0);
  });

  it('waits for its own events only, when calls overlap', async () => {
    const { answer, release } = held();
    const collector = await collect(200, answer);
    const analytics = create({ host: collector.url });
    const order: string[] = [];
    analytics.track(event());
    const first = analytics.flush().then(() => order.push('first'));
    analytics.track(event());
    const second = analytics.flush().then(() => order.push('second'));
    const third = analytics.flush().then(() => order.push('third'));
    await first;
    await collector.received(2);
    expect(order).toEqual(['first']);
    release();
    await Promise.all([second, third]);
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('does not resolve before events recorded earlier have ended', async () => {
    const { answer, release } = held();
    const collector = await collect(answer);
    const analytics = create({ host: collector.url, maxEventsInBatch: 2 });
    analytics.track(event());
    analytics.track(event()); // in flight before the flush
    await collector.received(1);
    const flushed = vi.fn();
    const flush = analytics.flush().then(flushed);
    await tracked(create({ disable: true, maxEventsInBatch: 1 })); // lets everything that is ready run
    expect(flushed).not.toHaveBeenCalled();
    release();
    await flush;
  });

  it('waits for the promises that callbacks return, rejected ones too', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const ended: string[] = [];
    analytics.track(event(), async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      ended.push('callback');
    });
    analytics.track(event(), () => Promise.reject(new Error('of the application')));
    await analytics.flush();
    ended.push('flush');
    expect(ended).toEqual(['callback', 'flush']);
  });

  it.each(['flush', 'closeAndFlush'] as const)('%s() in a callback waits for all but this callback', async (flush) => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const later = vi.fn();
    const ended = new Promise((resolve) =>
      analytics.track(event(), async () => {
        analytics.track(event(), later);
        await analytics[flush]();
        resolve(later.mock.calls.length);
      }),
    );
    await analytics.flush();
    expect(await ended).toBe(1);
    await analytics.flush();
  });

  it('waits for a callback that flushes another instance', async () => {
    const collector = await collect();
    const [analytics, other] = [create({ host: collector.url }), create({ host: collector.url })];
    const ended: string[] = [];
    analytics.track(event(), async () => {
      const outcome = tracked(other);
      await other.flush();
      await outcome;
      await tracked(create({ disable: true, maxEventsInBatch: 1 })); // lets everything that is ready run
      ended.push('callback');
    });
    await analytics.flush();
    ended.push('flush');
    expect(ended).toEqual(['callback', 'flush']);
  });

  it('also resolves when events failed', async () => {
    const collector = await collect(400);
    const analytics = create({ host: collector.url });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeInstanceOf(Error);
  });

  it('resolves when its timeout expires, aborts and fails what is in flight; later events are delivered', async () => {
    const collector = await collect(hang, 200);
    const analytics = create({ host: collector.url });
    const callback = vi.fn();
    analytics.track(event(), callback);
    await analytics.flush({ timeout: 50 });
    expect(callback).toHaveBeenCalledTimes(1);
    expect((callback.mock.calls[0]![0] as Error).message).toContain('within the flush timeout of 50 ms');
    expect(callback.mock.calls[0]![0]).toHaveProperty('code', 'flush_timeout');
    await collector.closed();
    const later = tracked(analytics);
    await analytics.flush({ timeout: 5000 });
    expect((await later).err).toBeUndefined();
  });

  it('with a timeout, ends a wait for a retry', async () => {
    const collector = await collect(503);
    const analytics = create({ host: collector.url });
    const outcome = tracked(analytics);
    await analytics.flush({ timeout: 100 });
    expect(((await outcome).err as Error).message).toContain('within the flush timeout of 100 ms');
    expect(collector.requests).toHaveLength(1);
  });

  it('with a timeout, ends a pause that the receiver asked for', async () => {
    const collector = await collect({ status: 429, headers: { 'Retry-After': '100' } });
    const analytics = create({ host: collector.url });
    const outcome = tracked(analytics);
    await analytics.flush({ timeout: 100 });
    expect(((await outcome).err as Error).message).toContain('within the flush timeout of 100 ms');
  });
});

describe('closeAndFlush', () => {
  it('delivers what was recorded and refuses what comes later, which ends as call_after_close alone', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const refused: unknown[] = [];
    analytics.on('call_after_close', (late) => refused.push(late));
    const outcome = tracked(analytics);
    const closed = analytics.closeAndFlush();
    const callback = vi.fn();
    analytics.track(event({ messageId: 'late' }), callback);
    await closed;
    expect((await outcome).err).toBeUndefined();
    expect(refused).toEqual([expect.objectContaining({ type: 'track', messageId: 'late', event: 'Ordered' })]);
    await analytics.flush();
    expect(callback).not.toHaveBeenCalled();
    expect(collector.messages).toHaveLength(1);
  });

  it('does not wait for the interval when one batch is in flight and another partly full', async () => {
    const { answer, release } = held();
    const collector = await collect(answer);
    const analytics = create({ host: collector.url, maxEventsInBatch: 2, flushInterval: 600_000 });
    for (let i = 0; i < 3; i++) analytics.track(event());
    await collector.received(1);
    const closed = analytics.closeAndFlush();
    await collector.received(2);
    release();
    await closed;
    expect(collector.messages).toHaveLength(3);
  });

  it('closes while a flush is running', async () => {
    const { answer, release } = held();
    const collector = await collect(answer);
    const analytics = create({ host: collector.url });
    analytics.track(event());
    const flush = analytics.flush();
    const close = analytics.closeAndFlush();
    const refused = vi.fn();
    analytics.on('call_after_close', refused);
    analytics.track(event());
    expect(refused).toHaveBeenCalledTimes(1);
    release();
    await Promise.all([flush, close]);
  });

  it('can be called again', async () => {
    const analytics = create({ disable: true });
    await Promise.all([analytics.closeAndFlush(), analytics.closeAndFlush({ timeout: 10 })]);
  });

  it('with a timeout, ends every event with an error: in flight and waiting', async () => {
    const collector = await collect(hang);
    const analytics = create({ host: collector.url, maxEventsInBatch: 1 });
    const outcomes = Array.from({ length: 50 }, () => tracked(analytics));
    await analytics.closeAndFlush({ timeout: 100 });
    expect(analytics.pendingCount).toBe(0);
    for (const { err } of await Promise.all(outcomes))
      expect((err as Error).message).toContain('within the flush timeout of 100 ms');
    await collector.closed();
    expect(collector.requests.length).toBeLessThanOrEqual(16);
  });

  it('with a timeout, does not wait for a callback’s promise longer than that', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    analytics.track(event(), () => new Promise(() => undefined));
    await analytics.closeAndFlush({ timeout: 1_000 });
    expect(collector.messages).toHaveLength(1);
  });
});

describe('in serverless runtimes', () => {
  it('an awaited track call is delivered without waiting for the interval where batching is off', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxEventsInBatch: 1 });
    await new Promise((resolve) => analytics.track(event(), resolve));
    expect(collector.messages).toHaveLength(1);
  });

  it('flush() delivers without closing', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    for (let invocation = 1; invocation <= 3; invocation++) {
      analytics.track(event());
      await analytics.flush();
      expect(collector.messages).toHaveLength(invocation);
    }
  });
});
