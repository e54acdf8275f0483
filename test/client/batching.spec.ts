import type { TrackParams } from 'nestjs-analytics-relay/client';
import { describe, expect, it } from 'vitest';
import { collect, create, event, tracked } from './support/harness.js';

const KB = 1024;

const sized = { messageId: 'm00', timestamp: '2020-01-01T00:00:00.000Z' };

/** Bytes of a message on the wire. */
function bytesOf(message: TrackParams): number {
  let json = '';
  const analytics = create({ disable: true }).on('call_after_close', (refused) => (json = JSON.stringify(refused)));
  void analytics.closeAndFlush();
  analytics.track(message);
  return Buffer.byteLength(json);
}

/** An event whose message has exactly so many bytes, mostly of one character. */
function eventOf(bytes: number, character: string): TrackParams {
  const room = bytes - bytesOf(event({ ...sized, properties: { fill: '' } }));
  const fill = character.repeat(Math.floor(room / Buffer.byteLength(character)));
  return event({ ...sized, properties: { fill: fill + 'x'.repeat(room - Buffer.byteLength(fill)) } });
}

const sizes = (requests: { body: { batch: unknown[] } }[]) => requests.map(({ body }) => body.batch.length);

describe('batches', () => {
  it('are sent when they hold maxEventsInBatch events, by default 15', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    for (let i = 0; i < 31; i++) analytics.track(event());
    await collector.received(2);
    expect(sizes(collector.requests)).toEqual([15, 15]);
    expect(analytics.pendingCount).toBeGreaterThanOrEqual(1);
    await analytics.flush();
    expect(sizes(collector.requests)).toEqual([15, 15, 1]);
    expect(analytics.pendingCount).toBe(0);
  });

  it('hold one event where maxEventsInBatch is 1', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxEventsInBatch: 1 });
    expect((await tracked(analytics)).err).toBeUndefined();
    expect((await tracked(analytics)).err).toBeUndefined();
    expect(sizes(collector.requests)).toEqual([1, 1]);
  });

  it('take flushAt for maxEventsInBatch, and prefer it', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, flushAt: 2, maxEventsInBatch: 5 });
    await Promise.all([tracked(analytics), tracked(analytics)]);
    expect(sizes(collector.requests)).toEqual([2]);
  });

  it('are sent at the latest after flushInterval, again and again', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, flushInterval: 50 });
    for (let round = 0; round < 3; round++) {
      const start = Date.now();
      await Promise.all([tracked(analytics), tracked(analytics)]);
      expect(Date.now() - start).toBeGreaterThanOrEqual(45);
    }
    expect(sizes(collector.requests)).toEqual([2, 2, 2]);
  });

  it('keep the order in which events were recorded', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxEventsInBatch: 7 });
    for (let i = 0; i < 30; i++) analytics.track(event({ messageId: `m${i}` }));
    await analytics.flush();
    for (const { body } of collector.requests) {
      const numbers = body.batch.map(({ messageId }) => Number(messageId.slice(1)));
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    }
    expect(new Set(collector.messages.map(({ messageId }) => messageId)).size).toBe(30);
  });

  it.each([
    ['ASCII', 'x'],
    ['two-byte', 'é'],
    ['three-byte', '語'],
    ['four-byte', '😀'],
  ])('hold a message of exactly 32 KB of %s characters, and none larger', async (_kind, filler) => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const outcomes = [
      tracked(analytics, eventOf(32 * KB, filler)),
      tracked(analytics, eventOf(32 * KB + 1, filler)),
      tracked(analytics),
    ];
    await analytics.flush();
    const [fits, tooLarge, small] = await Promise.all(outcomes);
    expect(fits!.err).toBeUndefined();
    expect(small!.err).toBeUndefined();
    expect(tooLarge!.err).toMatchObject({ name: 'RelayError', code: 'message_too_large' });
    expect((tooLarge!.err as Error).message).toBe('The message has 32769 bytes; at most 32768 (32 KB) are allowed');
    expect(collector.messages).toHaveLength(2);
    expect(Buffer.byteLength(JSON.stringify(collector.messages[0]))).toBe(32 * KB);
  });

  it.each([
    ['ASCII', 'x'],
    ['three-byte', '語'],
  ])('never exceed 500 KB of %s characters as a whole, and use most of it', async (_kind, filler) => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxEventsInBatch: 1000 });
    for (let i = 0; i < 40; i++) analytics.track({ ...eventOf(31 * KB, filler), messageId: `m${i + 10}` });
    await analytics.flush();
    expect(collector.messages).toHaveLength(40);
    const bytes = collector.requests.map(({ raw }) => Buffer.byteLength(raw));
    for (const size of bytes) expect(size).toBeLessThanOrEqual(500 * KB);
    expect(Math.max(...bytes)).toBeGreaterThan(465 * KB);
  });

  it('refuse the newest event when maxQueueSize events are held, with its callback and an error event', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxQueueSize: 3 });
    const errors: unknown[] = [];
    analytics.on('error', ({ reason }) => errors.push(reason));
    const outcomes = Array.from({ length: 5 }, () => tracked(analytics));
    await analytics.flush();
    const reasons = (await Promise.all(outcomes)).map(({ err }) => (err as Error | undefined)?.message);
    const full = 'The queue is full: it holds 3 events';
    expect(reasons).toEqual([undefined, undefined, undefined, full, full]);
    expect(errors).toEqual(Array(2).fill(expect.objectContaining({ code: 'queue_full' })));
    expect(collector.messages).toHaveLength(3);
    expect((await Promise.all([tracked(analytics), analytics.flush()]))[0].err).toBeUndefined();
  });
});
