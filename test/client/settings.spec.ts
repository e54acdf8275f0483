import {
  Analytics,
  keepAliveHttpClient,
  OptionsError,
  ValidationError,
  type AnalyticsSettings,
} from 'nestjs-analytics-relay/client';
import { describe, expect, it, vi } from 'vitest';
import { collect, create, event, tracked } from './support/harness.js';

const SECRET = 'wk_secret';

describe('settings', () => {
  it.each<[string, object | undefined, string, string]>([
    ['no settings', undefined, 'settings', 'must be an object'],
    ['no writeKey', { writeKey: undefined }, 'writeKey', 'must be a non-empty string'],
    ['an empty writeKey', { writeKey: '' }, 'writeKey', 'must be a non-empty string'],
    ['a host that is no URL', { host: 'localhost' }, 'host', 'must be an http or https URL'],
    ['a host of another protocol', { host: 'ftp://x' }, 'host', 'must be an http or https URL'],
    ['a host with credentials', { host: 'http://u:p@x' }, 'host', 'must be a URL without credentials'],
    ['a host with a query', { host: 'http://x?y' }, 'host', 'must be a URL without credentials'],
    ['a path that is no string', { path: 1 }, 'path', 'must be a string'],
    ['a negative maxRetries', { maxRetries: -1 }, 'maxRetries', 'must be an integer, at least 0'],
    ['maxEventsInBatch 0', { maxEventsInBatch: 0 }, 'maxEventsInBatch', 'must be an integer, at least 1'],
    ['a fractional flushAt', { flushAt: 1.5 }, 'flushAt', 'must be an integer, at least 1'],
    ['maxEventsInBatch as text', { maxEventsInBatch: '15' }, 'maxEventsInBatch', 'must be an integer'],
    ['flushInterval NaN', { flushInterval: NaN }, 'flushInterval', 'must be a number of milliseconds'],
    ['an endless flushInterval', { flushInterval: Infinity }, 'flushInterval', 'must be a number of milliseconds'],
    ['httpRequestTimeout 0', { httpRequestTimeout: 0 }, 'httpRequestTimeout', 'must be a number of milliseconds'],
    ['maxQueueSize 0', { maxQueueSize: 0 }, 'maxQueueSize', 'must be an integer, at least 1'],
    ['disable as text', { disable: 'false' }, 'disable', 'must be true or false'],
    ['an httpClient without makeRequest', { httpClient: {} }, 'httpClient', 'must be a function such as fetch'],
    ['plugins that are no array', { plugins: {} }, 'plugins', 'must be an array'],
    ['a plugin without a name', { plugins: [{}] }, 'plugins.name', 'must be a non-empty string'],
    ['telemetry that is no object', { telemetry: true }, 'telemetry', 'must be the return value of openTelemetry()'],
    ['telemetry without send', { telemetry: { create() {} } }, 'telemetry', 'or an object with a send method'],
    [
      'telemetry with a wrong create',
      { telemetry: { send() {}, create: 1 } },
      'telemetry',
      'must be the return value of openTelemetry()',
    ],
    ['defaults as text', { defaults: 'x' }, 'defaults', 'must be an object whose properties and context are objects'],
    ['defaults with another field', { defaults: { traits: {} } }, 'defaults', 'must be an object whose properties'],
    ['defaults with a BigInt', { defaults: { context: { n: 1n } } }, 'defaults', 'that JSON can represent'],
    ['a beforeSend that is no function', { beforeSend: {} }, 'beforeSend', 'must be a function'],
    ['a plugin of no type', { plugins: [{ name: 'p', type: 'x' }] }, 'plugins.type', 'must be one of before'],
  ])('refuse %s, naming setting and rule and never a value', (_fault, settings, field, rule) => {
    let error: unknown;
    try {
      new Analytics((settings && { writeKey: SECRET, ...settings }) as AnalyticsSettings);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toBeInstanceOf(OptionsError);
    expect(error).toMatchObject({ field, code: 'options_invalid' });
    expect((error as Error).message).toContain(rule);
    expect((error as Error).stack).not.toContain(SECRET);
  });

  it.each([0, -1, 1.5, NaN, '16'])('refuse maxSockets %j of keepAliveHttpClient', (maxSockets) => {
    const create = () => keepAliveHttpClient({ maxSockets: maxSockets as number });
    expect(create).toThrow(OptionsError);
    expect(create).toThrow('maxSockets must be an integer, at least 1, or Infinity');
  });

  it('take null for absent, and ignore settings of other clients', async () => {
    const collector = await collect();
    const others = { oauthSettings: {}, maxTotalBackoffDuration: 1, flushInterval: null, maxRetries: null };
    const analytics = create({ host: collector.url, ...(others as object) });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
  });

  it.each([
    ['', undefined, '/v1/batch'],
    ['/', undefined, '/v1/batch'],
    ['/relay', undefined, '/relay/v1/batch'],
    ['/relay/', '/in', '/relay/in'],
    ['', 'collect?x=1', '/collect?x=1'],
  ])('join host%s and path %s to %s', async (prefix, path, expected) => {
    const collector = await collect();
    const analytics = create({ host: collector.url + prefix, path });
    analytics.track(event());
    await analytics.flush();
    expect(collector.requests[0]!.path).toBe(expected);
  });

  it('post to http://localhost:3000/v1/batch by default, three retries, with the global fetch', async () => {
    const fetch = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{}'));
    const analytics = create({});
    analytics.track(event());
    await analytics.flush();
    expect(fetch.mock.calls[0]![0]).toBe('http://localhost:3000/v1/batch');
    fetch.mockRestore();
  });

  it('disable: no request is made, and callbacks and events come all the same', async () => {
    const httpClient = vi.fn<() => Promise<Response>>();
    const analytics = create({ disable: true, httpClient });
    const delivered = vi.fn();
    const outcome = tracked(analytics);
    analytics.on('track', delivered);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    expect(delivered).toHaveBeenCalledTimes(1);
    expect(httpClient).not.toHaveBeenCalled();
  });

  it('never show the write key in an error', async () => {
    const collector = await collect(401);
    const analytics = create({ host: collector.url, writeKey: SECRET });
    const outcome = tracked(analytics);
    await analytics.flush();
    const { err } = await outcome;
    expect((err as Error).stack).not.toContain(SECRET);
    expect((err as Error).stack).not.toContain(Buffer.from(`${SECRET}:`).toString('base64'));
  });
});
