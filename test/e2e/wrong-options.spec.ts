import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AnalyticsModule,
  type AnalyticsModuleOptions,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

class App {}

/** What stops an application that imports the module. */
async function bootstrapError(imported: DynamicModule): Promise<string> {
  const start = NestFactory.create({ module: App, imports: [imported] }, { logger: false, abortOnError: false });
  return start.then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

describe('A wrong option stops the application at bootstrap and is named with its rule:', () => {
  const source = { name: 'shop', writeKey: 'wk_secret' };
  const destination = { urls: ['https://receiver.example/hook'] };
  const six = Array.from({ length: 6 }, (_, index) => `https://receiver.example/${index}`);

  it.each<[string, string, Partial<WebhookDestinationModuleOptions> | object]>([
    ['no write key', 'sources[0].writeKey must be a non-empty string', { sources: [{ name: 'shop' }] }],
    ['no source', 'sources must be an array', { sources: undefined }],
    ['six URLs', 'destinations[0].urls must contain 1 to 5 URLs', { destinations: [{ urls: six }] }],
    ['no URL', 'destinations[0].urls must contain 1 to 5 URLs', { destinations: [{ urls: [] }] }],
    [
      'a URL that is none',
      'destinations[0].urls must contain only http or https URLs',
      { destinations: [{ urls: ['receiver.example'] }] },
    ],
    [
      'a header with a line break',
      'destinations[0].headers must map header names to strings without line breaks',
      { destinations: [{ ...destination, headers: { 'X-Env': 'prod\r\nHost: evil.example' } }] },
    ],
    [
      'two sources with one key',
      'sources[1].writeKey must differ from that of every other source',
      { sources: [source, { ...source, name: 'blog' }] },
    ],
    [
      'a private address',
      'destinations[0].urls[0] must not be a private or local address outside delivery.allowedNetworks',
      { destinations: [{ urls: ['http://0x7f000001/hook'] }] },
    ],
    [
      'an unknown option',
      'destinations[0].sharedSecert is not a known option',
      { destinations: [{ ...destination, sharedSecert: 's' }] },
    ],
    ['a queue that is none', 'queue must be a queue, such as sqliteQueue()', { queue: {} }],
  ])('%s', async (_case, fault, wrong) => {
    const options = { sources: [source], destinations: [destination], ...wrong };
    const message = await bootstrapError(WebhookDestinationModule.forRoot(options));
    expect(message).toContain('WebhookDestinationModule');
    expect(message).toContain(fault);
    expect(message).not.toContain('wk_secret');
    expect(await bootstrapError(WebhookDestinationModule.forRootAsync({ useFactory: () => options }))).toBe(message);
  });

  it.each<[string, string, object]>([
    ['no write key', 'writeKey must be a non-empty string', { writeKey: undefined }],
    ['a host that is no URL', 'host must be an http or https URL', { host: 'localhost:3000' }],
    ['a batch of none', 'flushAt must be an integer, at least 1', { flushAt: 0 }],
    ['an identity that is no function', 'identity must be a function that takes the request', { identity: 'user.id' }],
    ['a context that is no object', 'context must be true, false or an object of booleans', { context: 'none' }],
    ['a switch that is none', 'context.ip must be true or false', { context: { ip: 'no' } }],
    ['an unknown switch', 'context.ipAddress is not a known option', { context: { ipAddress: false } }],
    ['an anonymous that is no switch', 'anonymous must be true or false', { anonymous: 'cookie' }],
    ['no time to shut down', 'shutdownTimeout must be a number of milliseconds above 0', { shutdownTimeout: 0 }],
    ['anonymous visitors in words', 'anonymous must be true or false', { anonymous: 'cookie' }],
    ['an unknown option', 'flushIntervall is not a known option', { flushIntervall: 100 }],
    ['an unknown option without a value', 'hots is not a known option', { hots: undefined }],
  ])('%s', async (_case, fault, wrong) => {
    const options = { writeKey: 'wk_secret', ...wrong } as AnalyticsModuleOptions;
    const message = await bootstrapError(AnalyticsModule.forRoot(options));
    expect(message).toBe(`AnalyticsModule: ${fault}`);
    expect(await bootstrapError(AnalyticsModule.forRootAsync({ useFactory: () => options }))).toBe(message);
  });

  it('all of AnalyticsModule at once', async () => {
    const plugin = { name: '', type: 'before' };
    const wrong = { writeKey: '', host: 'localhost', flushAt: 0, maxRetries: -1, plugins: [plugin], oauth: {} };
    const more = { shutdownTimeout: 0, context: { ip: 'no' }, trackingPlan: { violations: 'ignore', events: [App] } };
    const message = await bootstrapError(AnalyticsModule.forRoot({ ...wrong, ...more, name: '' } as never));
    expect(message.split('\n  - ').sort()).toEqual(
      [
        'AnalyticsModule: ',
        'writeKey must be a non-empty string',
        'host must be an http or https URL',
        'flushAt must be an integer, at least 1',
        'maxRetries must be an integer, at least 0',
        'plugins.name must be a non-empty string',
        'plugins.load must be a function',
        'oauth is not a known option',
        'shutdownTimeout must be a number of milliseconds above 0',
        'context.ip must be true or false',
        'trackingPlan.violations must be one of throw, drop, warn',
        'trackingPlan.events[0] must be a class with @TrackedEvent, or made by defineEvent',
        'name must be a non-empty string',
      ].sort(),
    );
  });

  it.each([
    ['name must be a non-empty string', { name: 5 }],
    ['name must be a non-empty string', { name: '' }],
    ['isGlobal must be true or false', { isGlobal: 'yes' }],
  ])('%s', async (fault, extras) => {
    const useFactory = () => ({ writeKey: 'wk_secret' });
    const modules = [
      AnalyticsModule.forRoot({ writeKey: 'wk_secret', ...extras } as never),
      AnalyticsModule.forRootAsync({ useFactory, ...extras } as never),
    ];
    for (const module of modules) expect(await bootstrapError(module)).toBe(`AnalyticsModule: ${fault}`);
  });

  it('an isGlobal of WebhookDestinationModule that is no boolean, or comes from a factory', async () => {
    const options = { sources: [], destinations: [] };
    const useFactory = () => options;
    const fault = 'WebhookDestinationModule: isGlobal must be';
    for (const module of [
      WebhookDestinationModule.forRoot({ ...options, isGlobal: 'yes' } as never),
      WebhookDestinationModule.forRootAsync({ useFactory, isGlobal: null } as never),
    ]) {
      expect(await bootstrapError(module)).toBe(`${fault} true or false`);
    }
    const given = WebhookDestinationModule.forRootAsync({ useFactory: () => ({ ...options, isGlobal: true }) });
    expect(await bootstrapError(given)).toBe(`${fault} set next to useFactory, not in the options it returns`);
  });

  it.each(['marketing', undefined])(
    'a name that a factory returns, as the module must know it before',
    async (name) => {
      const useFactory = () => ({ writeKey: 'wk_secret', name });
      expect(await bootstrapError(AnalyticsModule.forRootAsync({ useFactory }))).toBe(
        'AnalyticsModule: name must be set next to useFactory, not in the options it returns',
      );
    },
  );

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an array', []],
    ['string', 'wk_secret'],
  ])('options that are none but %s, from a factory, a class or in place', async (kind, given) => {
    class Factory {
      create = (): never => given as never;
    }
    for (const [name, module] of [
      ['AnalyticsModule', AnalyticsModule],
      ['WebhookDestinationModule', WebhookDestinationModule],
    ] as const) {
      const fault = `the options must be an object; received ${kind} from forRoot, useFactory or useClass`;
      for (const imported of [
        module.forRootAsync({ useFactory: () => given as never }),
        module.forRootAsync({ useFactory: () => Promise.resolve(given as never) }),
        module.forRootAsync({ useClass: Factory }),
      ]) {
        const message = await bootstrapError(imported);
        expect(message).toBe(`${name}: ${fault}`);
        expect(message).not.toContain('wk_secret');
      }
      expect(await bootstrapError(module.forRoot(given as never))).toContain(`${name}: `);
    }
  });
});
