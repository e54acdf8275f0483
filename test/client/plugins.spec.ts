import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

import {
  Context,
  ValidationError,
  type Analytics,
  type EmittedError,
  type Message,
  type Plugin,
  type PluginType,
  type Timestamp,
} from 'nestjs-analytics-relay/client';
import { describe, expect, it, vi } from 'vitest';
import { collect, create, event, tracked } from './support/harness.js';

/** A plugin that does nothing but what is given. */
const plugin = (fields: Partial<Plugin> & { type: PluginType }): Plugin => ({
  name: fields.type,
  version: '1.0.0',
  isLoaded: () => true,
  load: () => Promise.resolve(),
  ...fields,
});

/** A promise and what ends it. */
function deferred() {
  let resolve!: () => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<void>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

function errorsOf(analytics: Analytics): EmittedError[] {
  const errors: EmittedError[] = [];
  analytics.on('error', (error) => errors.push(error));
  return errors;
}

/** A handler that never returns. */
const hang = () => new Promise<Context>(() => undefined);

const otherBuild = createRequire(`${process.cwd()}/package.json`)(
  'nestjs-analytics-relay/client',
) as typeof import('nestjs-analytics-relay/client');

const fail = () => {
  throw new Error('of the plugin');
};

/** Lets everything run that is ready to. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('plugins', () => {
  it('are loaded once with the instance, and announced', async () => {
    const analytics = create({ disable: true });
    const registered = vi.fn();
    analytics.on('register', registered);
    const load = vi.fn<Plugin['load']>().mockResolvedValue(undefined);
    await analytics.register(plugin({ type: 'before', name: 'a', load }), plugin({ type: 'after', name: 'b' }));
    expect(load).toHaveBeenCalledTimes(1);
    expect(load.mock.calls[0]![0]).toBeInstanceOf(Context);
    expect(load.mock.calls[0]![1]).toBe(analytics);
    expect(registered).toHaveBeenCalledWith(['a', 'b']);
  });

  it('run as before, enrichment, destination and after, in order of insertion within a type', async () => {
    const collector = await collect();
    const order: string[] = [];
    const tracing = (type: PluginType, name: string) =>
      plugin({
        type,
        name,
        track: async (ctx) => {
          await settled();
          order.push(name);
          return ctx;
        },
      });
    const analytics = create({
      host: collector.url,
      plugins: [
        tracing('after', 'after'),
        tracing('utility', 'utility'),
        tracing('enrichment', 'enrichment 1'),
        tracing('before', 'before 1'),
        tracing('destination', 'destination'),
        tracing('before', 'before 2'),
        tracing('enrichment', 'enrichment 2'),
      ],
    });
    await analytics.ready;
    analytics.on('http_request', () => order.push('http_request')).on('track', () => order.push('track'));
    analytics.track(event(), () => order.push('callback'));
    await analytics.flush();
    expect(order.filter((step) => step !== 'http_request')).toEqual([
      'before 1',
      'before 2',
      'enrichment 1',
      'enrichment 2',
      'destination',
      'after',
      'callback',
      'track',
    ]);
    expect(order.indexOf('http_request')).toBeGreaterThan(order.indexOf('enrichment 2'));
    expect(order.indexOf('http_request')).toBeLessThan(order.indexOf('after'));
  });

  it('handle the kinds of message they have a method for', async () => {
    const analytics = create({ disable: true });
    const seen: string[] = [];
    const handler = (ctx: Context) => {
      seen.push(ctx.event.type);
      return ctx;
    };
    const handlers = { identify: handler, track: handler, page: handler, screen: handler, group: handler };
    await analytics.register(plugin({ type: 'enrichment', ...handlers }));
    analytics.identify({ userId: 'u' });
    analytics.track(event());
    analytics.page({ userId: 'u' });
    analytics.screen({ userId: 'u' });
    analytics.group({ userId: 'u', groupId: 'g' });
    analytics.alias({ userId: 'u', previousId: 'p' });
    await analytics.flush();
    expect(seen.sort()).toEqual(['group', 'identify', 'page', 'screen', 'track']);
  });

  it('change what is sent with ctx.updateEvent, also where objects are missing', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    await analytics.register(
      plugin({
        type: 'enrichment',
        track: (ctx) => {
          ctx.updateEvent('context.device.model', 'X1');
          ctx.updateEvent('properties.items.0.sku', 'changed');
          ctx.updateEvent('userId', 'someone');
          expect(() => ctx.updateEvent('__proto__.polluted', true)).toThrow('may not change');
          return ctx;
        },
      }),
    );
    const message = event({ properties: { items: [{ sku: 'original' }] } });
    analytics.track(message);
    await analytics.flush();
    expect(collector.messages[0]).toMatchObject({
      userId: 'someone',
      context: { device: { model: 'X1' }, library: {} },
      properties: { items: [{ sku: 'changed' }] },
    });
    expect(message).toEqual(event({ properties: { items: [{ sku: 'original' }] } }));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('create an array with ctx.updateEvent where its first item is set, and leave what is switched off', async () => {
    const collector = await collect();
    const track = (ctx: Context) => {
      ctx.updateEvent('properties.products.0.sku', 'new');
      ctx.updateEvent('properties.stock.48211', 5);
      for (const name of ['Off', 'On']) ctx.updateEvent(`integrations.${name}`, { mode: 'cloud' });
      return ctx;
    };
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'before', track })] });
    analytics.track(event({ integrations: { Off: false, On: true } }));
    await analytics.flush();
    expect(collector.messages[0]).toMatchObject({
      properties: { products: [{ sku: 'new' }], stock: { 48211: 5 } },
      integrations: { Off: false, On: { mode: 'cloud' } },
    });
  });

  it.each<[string, Timestamp | undefined, unknown]>([
    ['none', undefined, expect.any(Date)],
    ['a Date', new Date(0), new Date(0)],
    ['text as a Date writes it', '2024-02-29T12:00:00.000Z', new Date('2024-02-29T12:00:00.000Z')],
    ['any other text', '2024-02-29', '2024-02-29'],
  ])('get the timestamp as a Date where it was %s, and it is sent unchanged', async (_form, timestamp, expected) => {
    const collector = await collect();
    const seen: unknown[] = [];
    const track = (ctx: Context) => (seen.push(ctx.event.timestamp), ctx);
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'before', track })] });
    analytics.on('track', track).on('call_after_close', (late) => seen.push(late.timestamp));
    const outcome = tracked(analytics, event({ timestamp }));
    await analytics.closeAndFlush();
    seen.push((await outcome).ctx.event.timestamp);
    analytics.track(event({ timestamp }));
    expect(seen).toEqual(Array(4).fill(expected));
    const [{ timestamp: onWire }] = collector.messages as [Message];
    expect(onWire).toBe(JSON.parse(JSON.stringify(timestamp ?? seen[0])));
  });

  it('may use the logger, the metrics and the attempts of contexts', async () => {
    const track = (ctx: Context) => {
      ctx.stats.increment('seen', 1, ['shop']);
      ctx.stats.gauge('total', 5);
      ctx.logger.log('info', `attempt ${ctx.attempts}`);
      return ctx;
    };
    const analytics = create({ disable: true, plugins: [plugin({ type: 'before', track })] });
    const outcome = tracked(analytics);
    await analytics.flush();
    const { err, ctx } = await outcome;
    expect(err).toBeUndefined();
    expect(ctx.logs().map(({ message }) => message)).toEqual(['attempt 1']);
  });

  it('may be tested with contexts of events that have only a type', () => {
    const [first, second] = [new Context({ type: 'track', event: 'E' }), new Context({ type: 'page' })];
    expect([first, second, Context.system()].map(({ event: { type, event: name } }) => [type, name])).toEqual([
      ['track', 'E'],
      ['page', undefined],
      ['track', 'system'],
    ]);
    expect(first.event.timestamp).toBeInstanceOf(Date);
    expect(first.id).toBe(first.event.messageId);
    expect([first.isSame(first), first.isSame(second)]).toEqual([true, false]);
  });

  it('see the event as it was when it was recorded', async () => {
    const collector = await collect();
    const loading = deferred();
    const analytics = create({
      host: collector.url,
      plugins: [plugin({ type: 'before', load: () => loading.promise })],
    });
    const message = event({ properties: { total: 1 } });
    analytics.track(message);
    message.properties!.total = 2;
    loading.resolve();
    await analytics.flush();
    expect(collector.messages[0]!.properties).toEqual({ total: 1 });
  });

  it('give each destination its own copy: its changes reach neither the wire nor the others', async () => {
    const collector = await collect();
    const seen: unknown[] = [];
    const destination = (name: string) =>
      plugin({
        type: 'destination',
        name,
        track: (ctx) => {
          seen.push(ctx.event.properties!.price);
          ctx.updateEvent('properties.price', `${name}’s own`);
          return ctx;
        },
      });
    const analytics = create({ host: collector.url, plugins: [destination('a'), destination('b')] });
    const outcome = tracked(analytics, event({ properties: { price: 5 } }));
    await analytics.flush();
    expect(seen).toEqual([5, 5]);
    expect(collector.messages[0]!.properties).toEqual({ price: 5 });
    expect((await outcome).ctx.event.properties).toEqual({ price: 5 });
  });

  it.each([
    ['every destination by default', undefined, ['One', 'Two']],
    ['none but those named with All: false', { All: false, Two: true }, ['Two']],
    ['not one that is switched off', { One: false }, ['Two']],
    ['not one that is switched off by another of its names', { Uno: false }, ['Two']],
    ['names in their exact case', { one: false }, ['One', 'Two']],
  ])('pass integrations: %s', async (_rule, integrations, expected) => {
    const analytics = create({ disable: true });
    const reached: string[] = [];
    for (const [name, alternative] of [['One', 'Uno'] as const, ['Two', 'Due'] as const]) {
      const track = (ctx: Context) => (reached.push(name), ctx);
      await analytics.register(plugin({ type: 'destination', name, alternativeNames: [alternative], track }));
    }
    analytics.track(event({ integrations }));
    await analytics.flush();
    expect(reached).toEqual(expected);
  });

  it.each<[string, Plugin['track'], RegExp]>([
    ['throws', fail, /^of the plugin$/],
    ['rejects', () => Promise.reject(new Error('of the plugin')), /^of the plugin$/],
    ['cancels the event', (ctx) => ctx.cancel(), /cancelled by a plugin/],
    ['returns no context', () => undefined as never, /^Plugin "before" returned no context$/],
  ])('a before plugin that %s ends the event, with an error to its callback', async (_how, track, message) => {
    const collector = await collect();
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'before', track })] });
    const errors = errorsOf(analytics);
    const outcome = tracked(analytics);
    analytics.identify({ userId: 'u' });
    await analytics.flush();
    const { err, ctx } = await outcome;
    expect((err as Error).message).toMatch(message);
    expect(errors).toEqual([{ code: 'delivery_failure', reason: err, ctx }]);
    expect(collector.messages.map(({ type }) => type)).toEqual(['identify']);
  });

  it.each<PluginType>(['enrichment', 'destination', 'after'])(
    'a throw in a plugin of type %s is reported, and delivery goes on',
    async (type) => {
      const collector = await collect();
      const other = vi.fn((ctx: Context) => ctx);
      const analytics = create({
        host: collector.url,
        plugins: [plugin({ type, track: fail }), plugin({ type, name: 'other', track: other })],
      });
      const errors = errorsOf(analytics);
      const outcome = tracked(analytics);
      await analytics.flush();
      expect((await outcome).err).toBeUndefined();
      expect(errors).toMatchObject([{ code: 'plugin_failure', reason: { message: 'of the plugin' } }]);
      expect(errors[0]!.ctx!.event.event).toBe('Ordered');
      expect(other).toHaveBeenCalledTimes(1);
      expect(collector.messages).toHaveLength(1);
    },
  );

  const reason = new Error('not in this region');
  it.each<[string, Plugin['track'], unknown]>([
    ['without a reason', (ctx) => ctx.cancel(), expect.objectContaining({ name: 'ContextCancelation' })],
    ['with an error of its own', (ctx) => ctx.cancel(reason), reason],
    ['with an error of its own, later', (ctx) => Promise.resolve().then(() => ctx.cancel(reason)), reason],
    [
      'with an error that cannot be changed',
      (ctx) => ctx.cancel(Object.freeze(new Error('frozen'))),
      new Error('frozen'),
    ],
    [
      'by a ContextCancelation of the package’s other build',
      () => {
        throw new otherBuild.ContextCancelation('elsewhere');
      },
      expect.objectContaining({ message: 'elsewhere' }),
    ],
  ])('an enrichment plugin that cancels the event %s ends it with that error', async (_how, track, expected) => {
    const collector = await collect();
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'enrichment', track })] });
    const errors = errorsOf(analytics);
    const outcome = tracked(analytics);
    await analytics.flush();
    const { err, ctx } = await outcome;
    expect(err).toEqual(expected);
    if (expected === reason) expect(err).toBe(reason);
    expect(errors).toEqual([{ code: 'delivery_failure', reason: err, ctx }]);
    expect(collector.requests).toHaveLength(0);
  });

  it('what a plugin adds counts for the size, and must be serialisable', async () => {
    const collector = await collect();
    const analytics = create({
      host: collector.url,
      plugins: [
        plugin({
          type: 'enrichment',
          track: (ctx) => (ctx.updateEvent('properties.blob', 'x'.repeat(33_000)), ctx),
          page: (ctx) => (ctx.updateEvent('properties.big', 10n), ctx),
        }),
      ],
    });
    const tooLarge = tracked(analytics);
    const broken = new Promise((resolve) => analytics.page({ userId: 'u' }, resolve));
    await analytics.flush();
    expect((await tooLarge).err).toHaveProperty('message', expect.stringContaining('32 KB'));
    expect(await broken).toMatchObject({ name: 'ValidationError', field: 'properties.big' });
    expect(collector.requests).toHaveLength(0);
  });

  it.each<[string, unknown]>([
    ['no event at all', undefined],
    ['an event without integrations', { type: 'track', messageId: 'm', integrations: null }],
  ])('a plugin that leaves %s breaks nothing but that event', async (_what, left) => {
    const collector = await collect();
    const track = (ctx: Context) => {
      ctx.event = left as Context['event'];
      return ctx;
    };
    const analytics = create({
      host: collector.url,
      plugins: [plugin({ type: 'enrichment', track }), plugin({ type: 'destination' })],
    });
    const outcome = tracked(analytics);
    analytics.identify({ userId: 'u' });
    await analytics.flush();
    expect((await outcome).err === undefined).toBe(left !== undefined);
    expect(collector.messages.map(({ type }) => type)).toContain('identify');
  });

  it('after plugins learn that delivery failed', async () => {
    const collector = await collect(400);
    const failures: unknown[] = [];
    const track = (ctx: Context) => (failures.push(ctx.failedDelivery()?.reason), ctx);
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'after', track })] });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect(failures).toEqual([(await outcome).err]);
  });
});

describe('loading', () => {
  it.each<PluginType>(['before', 'enrichment'])('events wait for a plugin of type %s', async (type) => {
    const collector = await collect();
    const loading = deferred();
    const track = (ctx: Context) => (ctx.updateEvent('properties.seen', true), ctx);
    const analytics = create({
      host: collector.url,
      plugins: [plugin({ type, track, load: () => loading.promise })],
    });
    analytics.track(event());
    const flush = analytics.flush();
    await settled();
    expect(collector.requests).toHaveLength(0);
    loading.resolve();
    await flush;
    expect(collector.messages[0]!.properties).toEqual({ seen: true });
  });

  it.each<PluginType>(['destination', 'after', 'utility'])(
    'delivery does not wait for one of type %s',
    async (type) => {
      const collector = await collect();
      const loading = deferred();
      const track = vi.fn((ctx: Context) => ctx);
      const analytics = create({
        host: collector.url,
        maxEventsInBatch: 1,
        plugins: [plugin({ type, track, load: () => loading.promise })],
      });
      analytics.track(event());
      await collector.received(1);
      expect(track).not.toHaveBeenCalled();
      loading.resolve();
      await analytics.flush();
      expect(track).toHaveBeenCalledTimes(type === 'utility' ? 0 : 1); // It misses nothing for having loaded late.
    },
  );

  it.each<PluginType>(['before', 'destination', 'utility'])(
    'nothing is delivered until a critical plugin of type %s has loaded',
    async (type) => {
      const collector = await collect();
      const loading = deferred();
      const analytics = create({
        host: collector.url,
        plugins: [plugin({ type, critical: true, load: () => loading.promise })],
      });
      analytics.track(event());
      const flush = analytics.flush();
      await settled();
      expect(collector.requests).toHaveLength(0);
      loading.resolve();
      await flush;
      expect(collector.messages).toHaveLength(1);
    },
  );

  it('a critical plugin that fails to load makes register reject and events fail, until it is deregistered', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const errors = errorsOf(analytics);
    const loading = deferred();
    const registered = analytics.register(
      plugin({ type: 'enrichment', name: 'essential', critical: true, load: () => loading.promise }),
    );
    const before = tracked(analytics);
    loading.reject(new Error('of the plugin'));
    await expect(registered).rejects.toThrow('of the plugin');
    expect((await before).err).toHaveProperty('message', 'of the plugin');
    expect((await tracked(analytics)).err).toHaveProperty('message', 'of the plugin');
    expect(errors.map(({ code }) => code)).toEqual(['plugin_load_failure', 'delivery_failure', 'delivery_failure']);
    expect(collector.requests).toHaveLength(0);
    await analytics.deregister('essential');
    const after = tracked(analytics);
    await analytics.flush();
    expect((await after).err).toBeUndefined();
  });

  it('ready rejects for a critical plugin of the settings, which is no unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const load = () => Promise.reject(new Error('of the plugin'));
    const analytics = create({ disable: true, plugins: [plugin({ type: 'before', critical: true, load })] });
    await settled();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await expect(analytics.ready).rejects.toThrow('of the plugin');
  });

  it.each<[string, Plugin['load']]>([
    ['rejects', () => Promise.reject(new Error('of the plugin\x1b[2K'))],
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is what is tested
    ['rejects with what cannot become a string', () => Promise.reject(Object.create(null))],
    ['throws', fail],
  ])('any other plugin whose load %s is dropped with a warning, and delivery goes on', async (_how, load) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const collector = await collect();
    const track = vi.fn((ctx: Context) => ctx);
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'before', load, track })] });
    const errors = errorsOf(analytics);
    await analytics.ready;
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    expect(track).not.toHaveBeenCalled();
    expect(errors).toMatchObject([{ code: 'plugin_load_failure' }]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]).toEqual([
      expect.stringMatching(/^Plugin "before" failed to load and was dropped: \P{Cc}+$/u),
      'AnalyticsWarning',
    ]);
    warn.mockRestore();
  });

  it('register rejects what is no plugin, which is reported as well', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const analytics = create({ disable: true });
    const errors = errorsOf(analytics);
    await expect(analytics.register({ name: 'x' } as never)).rejects.toThrow(ValidationError);
    expect(errors).toEqual([{ code: 'plugin_load_failure', reason: expect.any(ValidationError) }]);
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/^The plugins of this call were not registered, because one is invalid: .*type must be/s),
        'AnalyticsWarning',
      ],
    ]);
    warn.mockRestore();
  });

  it('isLoaded is not needed: a plugin without it sees each event', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const track = (ctx: Context) => (ctx.updateEvent('properties.seen', true), ctx);
    const withoutIsLoaded = { ...plugin({ type: 'before', track }), isLoaded: undefined };
    void analytics.register(withoutIsLoaded);
    analytics.track(event());
    await analytics.flush();
    expect(collector.messages[0]!.properties).toEqual({ seen: true });
  });

  it('deregister unloads and removes a plugin, whose throw is reported, and ignores other names', async () => {
    const analytics = create({ disable: true });
    const errors = errorsOf(analytics);
    const track = vi.fn((ctx: Context) => ctx);
    const unload = vi.fn(fail);
    const removed = vi.fn();
    analytics.on('deregister', removed);
    await analytics.register(plugin({ type: 'before', name: 'gone', track, unload }));
    await analytics.deregister('gone', 'unknown');
    expect(unload).toHaveBeenCalledTimes(1);
    expect(errors).toMatchObject([{ code: 'plugin_failure', reason: { message: 'of the plugin' } }]);
    expect(removed).toHaveBeenCalledWith(['gone', 'unknown']);
    analytics.track(event());
    await analytics.flush();
    expect(track).not.toHaveBeenCalled();
  });
});

describe('ending with plugins', () => {
  it('flush waits for events that are still in plugins, and sends them without waiting for the interval', async () => {
    const collector = await collect();
    const slow = deferred();
    const track = async (ctx: Context) => {
      await slow.promise;
      return ctx;
    };
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'enrichment', track })] });
    const outcome = tracked(analytics);
    const flush = analytics.flush();
    slow.resolve();
    await flush;
    expect((await outcome).err).toBeUndefined();
    expect(collector.messages).toHaveLength(1);
  });

  it('closeAndFlush with a timeout ends events that hang in a plugin, once', async () => {
    const collector = await collect();
    const slow = deferred();
    const track = async (ctx: Context) => {
      await slow.promise;
      return ctx;
    };
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'before', track })] });
    const callback = vi.fn();
    analytics.track(event(), callback);
    await analytics.closeAndFlush({ timeout: 30 });
    expect(callback).toHaveBeenCalledTimes(1);
    expect(callback.mock.calls[0]![0]).toBeInstanceOf(Error);
    expect(analytics.pendingCount).toBe(0);
    slow.resolve();
    await settled();
    expect(callback).toHaveBeenCalledTimes(1);
    expect(collector.requests).toHaveLength(0);
  });

  it.each<[string, PluginType, PluginType[]]>([
    ['before', 'before', ['before', 'enrichment', 'destination', 'after']],
    ['enrichment', 'enrichment', ['enrichment', 'destination', 'after']],
    ['destination', 'destination', ['after']],
  ])(
    'an event that the timeout of closeAndFlush ended in a plugin of type %s goes no further',
    async (_type, type, others) => {
      const slow = deferred();
      const later = vi.fn((ctx: Context) => ctx);
      const track = async () => {
        await slow.promise;
        throw new Error('too late');
      };
      const analytics = create({
        disable: true,
        plugins: [
          plugin({ type, name: 'slow', track: type === 'before' ? (ctx) => slow.promise.then(() => ctx) : track }),
          ...others.map((other) => plugin({ type: other, name: `later ${other}`, track: later })),
        ],
      });
      const errors = errorsOf(analytics);
      analytics.track(event());
      await analytics.closeAndFlush({ timeout: 30 });
      const before = errors.length;
      slow.resolve();
      await settled();
      expect(later).not.toHaveBeenCalled();
      expect(errors.slice(before)).toEqual([]);
    },
  );

  it('an event that was delivered ends without an error even where a destination hangs', async () => {
    const collector = await collect();
    const track = () => new Promise<Context>(() => undefined);
    const analytics = create({ host: collector.url, plugins: [plugin({ type: 'destination', track })] });
    const callback = vi.fn();
    analytics.track(event(), callback);
    await analytics.closeAndFlush({ timeout: 100 });
    expect(collector.messages).toHaveLength(1);
    expect(callback.mock.calls.map(([err]) => err as unknown)).toEqual([undefined]);
  });
});

describe('a plugin that takes longer than httpRequestTimeout', () => {
  const tooLong = (subject: string, ms: number) => ({
    code: 'plugin_failure',
    reason: expect.objectContaining({
      code: 'plugin_timeout',
      message: `${subject} took longer than ${ms} ms (httpRequestTimeout)`,
    }),
    ctx: expect.any(Context),
  });

  it.each<PluginType>(['destination', 'after'])(
    'and is of type %s is reported, and the event ends as its delivery does',
    async (type) => {
      for (const [status, message] of [
        [200, undefined],
        [400, '[400] Bad Request'],
      ] as const) {
        const collector = await collect(status);
        const analytics = create({
          host: collector.url,
          httpRequestTimeout: 1_000,
          plugins: [plugin({ type, track: hang })],
        });
        const errors = errorsOf(analytics);
        const outcome = tracked(analytics);
        await analytics.closeAndFlush();
        const { err, ctx } = await outcome;
        expect((err as Error | undefined)?.message).toBe(message);
        expect(errors[0]).toEqual(tooLong(`Plugin "${type}"`, 1_000));
        expect(errors.slice(1)).toEqual(message ? [{ code: 'delivery_failure', reason: err, ctx }] : []);
        expect(collector.messages).toHaveLength(1);
      }
    },
  );

  it('and is of type before ends the event with an error', async () => {
    const collector = await collect();
    const analytics = create({
      host: collector.url,
      httpRequestTimeout: 100,
      plugins: [plugin({ type: 'before', track: hang })],
    });
    const outcome = tracked(analytics);
    await analytics.closeAndFlush();
    expect((await outcome).err).toHaveProperty(
      'message',
      'Plugin "before" took longer than 100 ms (httpRequestTimeout)',
    );
    expect(collector.requests).toHaveLength(0);
  });

  it('and is of type enrichment is reported, and changes nothing later', async () => {
    const collector = await collect();
    const late = deferred();
    const changed = deferred();
    const analytics = create({
      host: collector.url,
      httpRequestTimeout: 1_000,
      plugins: [
        plugin({
          type: 'enrichment',
          name: 'slow',
          track: async (ctx) => {
            ctx.log('info', 'begun');
            await late.promise;
            ctx.updateEvent('properties.late', true);
            changed.resolve();
            return ctx;
          },
        }),
        plugin({
          type: 'enrichment',
          name: 'next',
          track: async (ctx) => {
            late.resolve();
            await changed.promise;
            ctx.updateEvent('properties.next', true);
            return ctx;
          },
        }),
      ],
    });
    const errors = errorsOf(analytics);
    const outcome = tracked(analytics);
    await analytics.closeAndFlush();
    const { err, ctx } = await outcome;
    expect(err).toBeUndefined();
    expect(errors).toEqual([tooLong('Plugin "slow"', 1_000)]);
    expect(collector.messages[0]!.properties).toEqual({ next: true });
    expect(ctx.event.properties).toEqual({ next: true });
    expect(ctx.logs().map(({ message }) => message)).toEqual(['begun']);
  });

  it('and fails afterwards leaves no unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const late = deferred();
    const track = async (ctx: Context) => (await late.promise, ctx);
    const plugins = [
      plugin({ type: 'before', name: 'unloaded', load: () => late.promise }),
      ...(['before', 'enrichment', 'destination', 'after'] as const).map((type) => plugin({ type, track })),
    ];
    const analytics = create({ disable: true, httpRequestTimeout: 20, plugins });
    analytics.track(event());
    await analytics.closeAndFlush();
    late.reject(new Error('of the plugin'));
    await settled();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each<PluginType>(['before', 'enrichment', 'destination', 'after'])(
    'to load, and is of type %s, is passed over by each event until it has loaded',
    async (type) => {
      const collector = await collect();
      const loading = deferred();
      const track = vi.fn((ctx: Context) => ctx);
      const limit = 1_000;
      const analytics = create({
        host: collector.url,
        httpRequestTimeout: limit,
        plugins: [plugin({ type, track, load: () => loading.promise })],
      });
      const errors = errorsOf(analytics);
      const outcome = tracked(analytics);
      await analytics.flush();
      expect((await outcome).err).toBeUndefined();
      expect(errors).toEqual([tooLong(`Loading plugin "${type}"`, limit)]);

      // From then on, events do not wait for it.
      analytics.track(event());
      const isWaiting = new Promise((resolve) => setTimeout(resolve, limit / 2, 'waiting'));
      expect(await Promise.race([analytics.flush(), isWaiting])).toBeUndefined();
      expect(errors).toHaveLength(2);
      expect(track).not.toHaveBeenCalled();

      loading.resolve();
      await analytics.ready;
      analytics.track(event());
      await analytics.closeAndFlush();
      expect(track).toHaveBeenCalledTimes(1);
      expect(errors).toHaveLength(2);
      expect(collector.messages).toHaveLength(3);
    },
  );

  it.each<PluginType>(['enrichment', 'utility'])(
    'to load, and is critical and of type %s, makes events fail until it has loaded',
    async (type) => {
      const collector = await collect();
      const loading = deferred();
      const analytics = create({ host: collector.url, httpRequestTimeout: 1_000 });
      const errors = errorsOf(analytics);
      let isRegistered = false;
      const registered = analytics
        .register(plugin({ type, critical: true, load: () => loading.promise }))
        .then(() => (isRegistered = true));
      const outcome = tracked(analytics);
      await analytics.flush();
      const { err, ctx } = await outcome;
      expect(err).toHaveProperty('message', `Loading plugin "${type}" took longer than 1000 ms (httpRequestTimeout)`);
      expect(errors).toEqual([{ code: 'delivery_failure', reason: err, ctx }]);
      expect(isRegistered).toBe(false);
      expect(collector.requests).toHaveLength(0);

      loading.resolve();
      await registered;
      const after = tracked(analytics);
      await analytics.closeAndFlush();
      expect((await after).err).toBeUndefined();
    },
  );

  it('to unload is removed all the same', async () => {
    const analytics = create({ disable: true, httpRequestTimeout: 20 });
    const errors = errorsOf(analytics);
    const track = vi.fn((ctx: Context) => ctx);
    await analytics.register(plugin({ type: 'before', track, unload: hang }));
    await analytics.deregister('before');
    expect(errors).toMatchObject([
      {
        code: 'plugin_failure',
        reason: { message: 'Unloading plugin "before" took longer than 20 ms (httpRequestTimeout)' },
      },
    ]);
    analytics.track(event());
    await analytics.flush();
    expect(track).not.toHaveBeenCalled();
  });

  /** Runs a program with an instance whose plugin has these fields; answers what it prints. */
  const run = async (fields: string, settings: string, program: string) => {
    const script = `
      import { Analytics } from 'nestjs-analytics-relay/client';
      const hang = () => new Promise(() => undefined);
      const plugin = { name: 'hung', type: 'destination', isLoaded: () => true, load: async () => undefined, ${fields} };
      const analytics = new Analytics({ writeKey: 'wk', disable: true, plugins: [plugin], ${settings} });
      analytics.on('error', ({ code }) => console.log(code));
      ${program}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 30_000,
    });
    return stdout.trim().split('\n');
  };

  it.each([
    ['is not waited for without an event', 'load: hang', '', ''],
    [
      'is not waited for when the timeout of closeAndFlush has expired',
      'track: hang',
      '',
      `analytics.track({ userId: 'u', event: 'e' }); await analytics.closeAndFlush({ timeout: 50 });`,
    ],
    [
      'is not waited for where the event had others to go through by then',
      'track: () => new Promise((resolve) => setTimeout(resolve, 200))',
      `plugins: ['enrichment', 'destination'].map((type, index) => ({ ...plugin, type, name: type, ...(index && { track: hang }) }))`,
      `analytics.track({ userId: 'u', event: 'e' }); await analytics.closeAndFlush({ timeout: 50 });`,
    ],
    ['is not waited for to unload', 'unload: hang', '', `await analytics.ready; void analytics.deregister('hung');`],
  ])('%s: the process ends', async (_when, fields, settings, program) => {
    const limit = 'httpRequestTimeout: 600_000';
    const lines = await run(fields, `${limit}, ${settings}`, `${program} console.log('end');`);
    expect(lines.filter((line) => line !== 'delivery_failure')).toEqual(['end']);
  });

  it('does not end the process before closeAndFlush has', async () => {
    const program = `analytics.track({ userId: 'u', event: 'e' }); await analytics.closeAndFlush(); console.log('end');`;
    expect(await run('track: hang', 'httpRequestTimeout: 200', program)).toEqual(['plugin_failure', 'end']);
    expect(await run('load: hang', 'httpRequestTimeout: 200', program)).toEqual(['plugin_failure', 'end']);
  });
});
