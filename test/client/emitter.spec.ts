import { AsyncLocalStorage } from 'node:async_hooks';

import type { AnalyticsEvents } from 'nestjs-analytics-relay/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { collect, create, event, tracked } from './support/harness.js';

const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
const unhandled = vi.fn();
process.on('unhandledRejection', unhandled);

afterEach(() => {
  expect(unhandled).not.toHaveBeenCalled();
  warnings.mockClear();
});

/** Lets everything run that is ready to, unhandled rejections included. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('emitter events', () => {
  it('come in the order request, callback, the message’s own, drained', async () => {
    const collector = await collect({ status: 200, headers: { 'X-Answer': 'yes' }, body: '{"success":true}' });
    const analytics = create({ host: collector.url });
    const order: string[] = [];
    for (const name of ['http_request', 'http_response', 'track', 'drained', 'error'] as const) {
      analytics.on(name, () => order.push(name));
    }
    analytics.track(event(), () => order.push('callback'));
    await analytics.flush();
    expect(order).toEqual(['http_request', 'http_response', 'callback', 'track', 'drained']);
  });

  it('http_request and http_response tell what was sent and answered', async () => {
    const collector = await collect({ status: 200, headers: { 'X-Answer': 'yes' }, body: '{"success":true}' });
    const analytics = create({ host: collector.url });
    const requests: AnalyticsEvents['http_request'][0][] = [];
    const responses: AnalyticsEvents['http_response'][0][] = [];
    analytics.on('http_request', (request) => requests.push(request));
    analytics.on('http_response', (response) => responses.push(response));
    analytics.track(event());
    await analytics.flush();
    const url = `${collector.url}/v1/batch`;
    expect(requests).toEqual([
      { url, method: 'POST', headers: expect.any(Object) as unknown, body: collector.requests[0]!.raw },
    ]);
    expect(requests[0]!.headers).toMatchObject({ 'Content-Type': 'application/json' });
    expect(responses).toEqual([
      { status: 200, statusText: 'OK', url, headers: expect.any(Object) as unknown, body: '{"success":true}' },
    ]);
    expect(responses[0]!.headers).toMatchObject({ 'x-answer': 'yes' });
  });

  it('are emitted for every kind of message that was delivered', async () => {
    const analytics = create({ disable: true });
    const heard: string[] = [];
    for (const kind of ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const) {
      analytics.on(kind, (ctx) => heard.push(ctx.event.type));
    }
    analytics.identify({ userId: 'u' });
    analytics.track(event());
    analytics.page({ userId: 'u' });
    analytics.screen({ userId: 'u' });
    analytics.group({ userId: 'u', groupId: 'g' });
    analytics.alias({ userId: 'u', previousId: 'p' });
    await analytics.flush();
    expect(heard).toEqual(['identify', 'track', 'page', 'screen', 'group', 'alias']);
  });

  it('drained comes each time that nothing is pending', async () => {
    const analytics = create({ disable: true });
    const drained = vi.fn();
    analytics.on('drained', drained);
    for (let i = 0; i < 3; i++) analytics.track(event());
    await analytics.flush();
    analytics.track(event());
    await analytics.flush();
    expect(drained).toHaveBeenCalledTimes(2);
  });

  it('reach listeners until they are taken off, and once listeners once', async () => {
    const analytics = create({ disable: true });
    const [always, once, off, offOnce] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
    const chained = analytics.on('track', always).once('track', once).on('track', off).once('track', offOnce);
    expect(chained.off('track', off).off('track', offOnce)).toBe(analytics);
    for (let i = 0; i < 2; i++) analytics.track(event());
    await analytics.flush();
    expect(always).toHaveBeenCalledTimes(2);
    expect(once).toHaveBeenCalledTimes(1);
    expect(off).not.toHaveBeenCalled();
    expect(offOnce).not.toHaveBeenCalled();
  });

  it('an unheard error throws nothing', async () => {
    const collector = await collect(400);
    const analytics = create({ host: collector.url });
    analytics.track(event());
    await analytics.flush();
    await settled();
  });
});

describe('a callback', () => {
  it('runs in the async context of the call that recorded its event', async () => {
    const requests = new AsyncLocalStorage<string>();
    const collector = await collect(200, 400);
    const analytics = requests.run('first', () => create({ host: collector.url, maxEventsInBatch: 2 }));
    const seen: [called: string, context: string | undefined][] = [];
    const track = (request: string, message = event()) =>
      requests.run(request, () => analytics.track(message, () => seen.push([request, requests.getStore()])));
    for (const request of ['delivered', 'with it', 'failed']) track(request);
    track('refused', event({ properties: { big: 10n } }));
    await analytics.flush();
    expect(seen).toHaveLength(4);
    for (const [called, context] of seen) expect(context).toBe(called);
  });

  it('that is not a function is ignored', async () => {
    const analytics = create({ disable: true });
    analytics.track(event(), 'done' as never);
    await analytics.flush();
    expect(warnings).not.toHaveBeenCalled();
  });
});

describe('faults of the application', () => {
  const faults: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('of the application');
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the application'))],
    [
      'throws an object that cannot become a string',
      () => {
        throw Object.create(null);
      },
    ],
    [
      'rejects with an error whose stack cannot be read',
      () => {
        const error = new Error('of the application');
        const get = () => {
          throw error;
        };
        return Promise.reject(Object.defineProperty(error, 'stack', { get }));
      },
    ],
  ];

  it.each(faults)('a listener that %s breaks nothing, and is warned of once', async (_how, listener) => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    for (const name of ['http_request', 'http_response', 'track', 'drained'] as const) analytics.on(name, listener);
    const other = vi.fn();
    analytics.on('track', other);
    const outcomes = [tracked(analytics), tracked(analytics)];
    await analytics.flush();
    for (const { err } of await Promise.all(outcomes)) expect(err).toBeUndefined();
    expect(other).toHaveBeenCalledTimes(2);
    expect(collector.messages).toHaveLength(2);
    await settled();
    expect(warnings).toHaveBeenCalledTimes(1);
  });

  it.each(faults)('an error or call_after_close listener that %s breaks nothing', async (_how, listener) => {
    const collector = await collect(400);
    const analytics = create({ host: collector.url });
    analytics.on('error', listener).on('call_after_close', listener);
    const outcome = tracked(analytics);
    await analytics.closeAndFlush();
    expect((await outcome).err).toBeInstanceOf(Error);
    expect(() => analytics.track(event())).not.toThrow();
    expect(collector.requests).toHaveLength(1);
    await settled();
  });

  it.each(faults)('a callback that %s causes neither a second delivery nor an error', async (_how, callback) => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const [called, delivered, error] = [vi.fn(callback), vi.fn(), vi.fn()];
    analytics.on('track', delivered).on('error', error);
    analytics.track(event(), called);
    analytics.track(event());
    await analytics.flush();
    await settled();
    expect(called).toHaveBeenCalledTimes(1);
    expect(delivered).toHaveBeenCalledTimes(2);
    expect(error).not.toHaveBeenCalled();
    expect(collector.messages).toHaveLength(2);
  });

  it('may record events in callbacks and listeners', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, maxEventsInBatch: 1 });
    analytics.once('track', () => analytics.track(event({ event: 'from a listener' })));
    analytics.track(event(), () => analytics.track(event({ event: 'from a callback' })));
    await collector.until(() => collector.messages.length === 3);
    expect(collector.messages.map((message) => message.event).sort()).toEqual([
      'Ordered',
      'from a callback',
      'from a listener',
    ]);
  });
});
