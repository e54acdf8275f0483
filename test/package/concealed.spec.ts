import { inspect } from 'node:util';

import type { DynamicModule, INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  type DeliveryQueueFactory,
  getAnalyticsToken,
  memoryQueue,
  WebhookDestinationModule,
  WebhookDestinationService,
  WebhookSignatureGuard,
} from 'nestjs-analytics-relay';
import { Analytics } from 'nestjs-analytics-relay/client';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { stringsBelow } from '../support/object.strings.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';

const KEY = Buffer.from('s3cret standard key of many bytes');
const STANDARD = `whsec_${KEY.toString('base64')}`;
const SEED = Buffer.from('s3cret private key of 32 bytes..');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [
  's3cret',
  KEY.toString('base64'),
  KEY.toString('hex'),
  SEED.toString('base64'),
  SEED.toString('hex'),
  [...KEY.subarray(0, 8)].map((byte) => byte.toString(16)).join(' '), // as Buffers are inspected
  base64('s3cret-key:'),
  base64('s3cret-named:'),
  base64('user:s3cret-password'),
];

/** Where secrets are below an object. */
function leaksOf(object: object): string[] {
  const leaks: string[] = [];
  for (const [text, path] of stringsBelow(object)) {
    if (SECRETS.some((secret) => text.includes(secret))) leaks.push(path);
  }
  return leaks;
}

function isInspected(object: object, depth: number): boolean {
  const options = { depth, maxStringLength: null, maxArrayLength: null };
  const texts = [
    inspect(object, { ...options, showHidden: true }),
    inspect(object, { ...options, customInspect: false }),
  ];
  return texts.some((text) => SECRETS.some((secret) => text.includes(secret)));
}

const cleanUp = useCleanUps();

async function start(queue: DeliveryQueueFactory): Promise<{ app: INestApplication; modules: DynamicModule[] }> {
  const receiver = await Receiver.start();
  cleanUp(() => receiver.stop());
  const urls = [receiver.url.replace('//', '//user:s3cret-password@') + '?s3cret-query'];
  const modules = [
    AnalyticsModule.forRoot({ writeKey: 's3cret-key' }),
    AnalyticsModule.forRootAsync({
      name: 'named',
      useFactory: () => ({ writeKey: 's3cret-named', host: new URL(receiver.url).origin }),
    }),
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 's3cret-key' }],
      destinations: [
        { urls, sharedSecret: [STANDARD, 's3cret-previous'], headers: { Authorization: 's3cret-header' } },
        { name: 'Other', urls, sharedSecret: 's3cret-other' },
        { name: 'Off', urls, sharedSecret: 's3cret-off', enabled: false },
        { name: 'Private', urls, sharedSecret: `whsk_${SEED.toString('base64')}` },
      ],
      queue,
      delivery: { allowedNetworks: ['localhost'] },
      admin: { token: 's3cret-token' },
    }),
  ];
  const testing = await Test.createTestingModule({ imports: modules }).setLogger(new LogLines()).compile();
  const app = testing.createNestApplication();
  cleanUp(() => app.close());
  await app.init();
  for (const token of [AnalyticsService, getAnalyticsToken('named')]) {
    const analytics = app.get<AnalyticsService>(token);
    analytics.track({ userId: 'u1', event: 'Ordered' });
    await analytics.flush();
  }
  await receiver.received(3); // connections, headers and signatures have been made
  return { app, modules };
}

async function expectConcealed(queue: DeliveryQueueFactory) {
  const { app, modules } = await start(queue);
  const instances: Record<string, unknown> = {};
  for (const { name, providers, controllers } of app.get(ModulesContainer).values()) {
    for (const wrapper of [...providers.values(), ...controllers.values()]) {
      instances[`${name}.${String(wrapper.token)}`] = wrapper.instance;
    }
  }
  expect(Object.keys(instances).length).toBeGreaterThan(20);
  expect(leaksOf({ instances, modules, app })).toEqual([]);
  expect(modules.filter((module) => isInspected(module, Infinity))).toEqual([]);
  const services = [app.get(AnalyticsService), app.get(WebhookDestinationService)];
  expect(services.filter((service) => isInspected(service, 5))).toEqual([]);
}

describe('No object of an application shows a secret', () => {
  it('with a queue in the process', () => expectConcealed(memoryQueue()));

  it('in an Analytics of its own, while a request is under way', async () => {
    let finish!: (response: { status: number; statusText: string }) => void;
    const answer = new Promise<{ status: number; statusText: string }>((resolve) => (finish = resolve));
    const analytics = new Analytics({ writeKey: 's3cret-key', httpClient: { makeRequest: () => answer } });
    analytics.track({ userId: 'u1', event: 'Ordered' });
    const flushed = analytics.flush();
    expect([leaksOf(analytics), isInspected(analytics, Infinity)]).toEqual([[], false]);
    finish({ status: 200, statusText: 'OK' });
    await flushed;
  });

  it('in a guard', () => {
    const guard = new WebhookSignatureGuard([STANDARD, 's3cret-plain']);
    expect([leaksOf(guard), isInspected(guard, Infinity), JSON.stringify(guard)]).toEqual([
      [],
      false,
      expect.not.stringContaining('s3cret'),
    ]);
  });

  it('and modules stay apart where Nest tells them apart by what is in them', async () => {
    const named = (name: string) => AnalyticsModule.forRoot({ name, writeKey: `s3cret-${name}` });
    const relay = (name: string) =>
      WebhookDestinationModule.forRoot({
        sources: [{ name, writeKey: `s3cret-${name}` }],
        destinations: [],
        queue: memoryQueue(),
        ingest: { prefix: name },
      });
    const imports = [named('a'), named('b'), relay('a'), relay('b')];
    const testing = await Test.createTestingModule({ imports }, { moduleIdGeneratorAlgorithm: 'deep-hash' })
      .setLogger(new LogLines())
      .compile();
    const app = testing.createNestApplication();
    cleanUp(() => app.close());
    await app.init();
    expect(app.get(WebhookDestinationService, { strict: false, each: true })).toHaveLength(2);
    expect(app.get(getAnalyticsToken('a'))).not.toBe(app.get(getAnalyticsToken('b')));
  });
});

await describeOnEach([redisStore, postgresStore], ({ name, url, create }) => {
  it(`No object of an application shows a secret of its connection to ${name}`, async () => {
    const { options, remove } = create();
    cleanUp(remove);
    const { hostname: host, port } = new URL(url);
    const connection =
      options.backend === 'postgres'
        ? { connectionString: url, application_name: 's3cret-store' }
        : { host, port: Number(port), connectionName: 's3cret-store' };
    await expectConcealed(sharedQueue({ ...options, connection }));
  });
});
