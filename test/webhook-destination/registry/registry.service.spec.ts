import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type DeliveryQueueFactory,
  type DestinationRegistry,
  memoryQueue,
  type RegistryChange,
  sqliteQueue,
  verifySignature,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { stringsBelow } from '../../support/object.strings.js';
import { Receiver } from '../../support/receiver.js';
import { LogLines, Relay } from '../../support/relay.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const cleanUp = useCleanUps();

async function receiver(): Promise<Receiver> {
  const started = await Receiver.start();
  cleanUp(() => started.stop());
  return started;
}

async function start(options: Parameters<typeof Relay.start>[0]): Promise<Relay> {
  const relay = await Relay.start({ registry: 'store', ...options });
  cleanUp(() => relay.stop());
  return relay;
}

let ids = 0;
async function track(relay: Relay, writeKey: string): Promise<string> {
  const messageId = `m${++ids}`;
  await relay.service.accept(writeKey, [{ type: 'track', userId: 'u1', event: 'Ordered', messageId }]);
  return messageId;
}

function itChangesWhileItRuns(create: () => Promise<DeliveryQueueFactory>): void {
  it('delivers to what was created, until it is removed', async () => {
    const hook = await receiver();
    const relay = await start({ queue: await create() });
    const { sources, destinations } = relay.service;
    const { writeKey } = await sources.create({ name: 'customer' });
    const { sharedSecret } = await destinations.create({ name: 'hook', urls: [hook.url], sources: ['customer'] });
    await track(relay, writeKey!);
    const [webhook] = await hook.received(1);
    const signature = webhook!.headers['x-signature'];
    expect(verifySignature(webhook!.raw, signature, sharedSecret)).toBe(true);

    await destinations.pause('hook');
    await track(relay, writeKey!);
    const { results } = await destinations.test('hook', { event: 'Tried' });
    expect(results).toMatchObject([{ url: hook.url, outcome: 'success', status: 200 }]);
    expect(hook.webhooks.splice(1)).toMatchObject([{ body: { type: 'track', event: 'Tried' } }]);
    await destinations.remove('hook');
    await waitFor(async () => (await relay.service.deliveries({ state: 'dead' })).length === 1);
    const [dead] = await relay.service.deliveries({ state: 'dead' });
    expect(dead!.reason).toBe('destination removed');
    await track(relay, writeKey!);
    expect(hook.webhooks).toHaveLength(1);
    await sources.remove('customer');
    await expect(track(relay, writeKey!)).rejects.toMatchObject({ code: 'write_key_unknown' });
  });

  it('holds back what is paused, and signs with both secrets during a rotation', async () => {
    const hook = await receiver();
    const queue = await create();
    const relay = await start({ queue });
    await relay.service.destinations.create({ name: 'hook', urls: [hook.url], sharedSecret: 'the first secret' });
    await relay.service.destinations.pause('hook');
    await track(relay, 'wk_shop');
    await relay.stop();

    const again = await start({ queue });
    const { sharedSecret } = await again.service.destinations.rotateSecret('hook');
    expect(await again.service.destinations.get('hook')).toMatchObject({ paused: true });
    expect(hook.webhooks).toEqual([]);
    await again.service.destinations.resume('hook');
    const [{ raw, headers }] = (await hook.received(1)) as [(typeof hook.webhooks)[number]];
    expect(verifySignature(raw, headers['x-signature'], sharedSecret)).toBe(true);
    expect(verifySignature(raw, headers['x-signature-previous'], 'the first secret')).toBe(true);
  });
}

describe('SQLite', () => {
  itChangesWhileItRuns(async () => {
    const { path, remove } = await temporaryFolder();
    cleanUp(remove);
    return sqliteQueue({ path: path('relay.db') });
  });
});

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(store.name, () => {
    const place = () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      return sharedQueue(options);
    };
    itChangesWhileItRuns(() => Promise.resolve(place()));

    it('changes within a second in another process', async () => {
      const hook = await receiver();
      const queue = place();
      const [one, other] = [await start({ queue }), await start({ queue })];
      const { writeKey } = await one.service.sources.create({ name: 'customer' });
      await one.service.destinations.create({ name: 'hook', urls: [hook.url] });
      const changed = (condition: () => Promise<boolean>) => waitFor(condition, undefined, 1_000);
      await changed(async () => (await other.service.destinations.get('hook')) !== undefined);
      await track(other, writeKey!);
      await hook.received(1);
      await one.service.sources.remove('customer');
      await changed(async () => (await other.service.sources.get('customer')) === undefined);
      await expect(track(other, writeKey!)).rejects.toMatchObject({ code: 'write_key_unknown' });
    });
  });
});

describe('A listing', () => {
  it('is a copy, whose changes take effect with an update', async () => {
    const hook = await receiver();
    const relay = await start({});
    const { sources, destinations } = relay.service;
    const { writeKey } = await sources.create({ name: 'customer' });
    await destinations.create({ name: 'hook', urls: [hook.url], sources: ['shop'], events: ['Paid'] });
    const { sources: named, events } = (await destinations.get('hook'))!;
    named!.push('customer');
    events!.push('Ordered');
    expect(await destinations.get('hook')).toMatchObject({ sources: ['shop'], events: ['Paid'] });
    await destinations.update('hook', { sources: named, events });
    await track(relay, writeKey!);
    await track(relay, 'wk_shop');
    await hook.received(2);
  });

  it('shares nothing with the options of the module', async () => {
    const hook = await receiver();
    const relay = await start({
      destinations: [
        { name: 'fixed', urls: [hook.url], sources: ['shop'], types: ['track'], metadata: { tenant: 't1' } },
      ],
    });
    const [listed] = await relay.service.destinations.list();
    listed!.sources!.length = 0;
    listed!.types!.length = 0;
    listed!.metadata.tenant = 't2';
    expect(await relay.service.destinations.list({ metadata: { tenant: 't1' } })).toHaveLength(1);
    await track(relay, 'wk_shop');
    await hook.received(1);
  });
});

describe('The registry in a module', () => {
  @Injectable()
  class Customers implements DestinationRegistry {
    readonly changes$ = new Subject<RegistryChange>();

    load(): ReturnType<DestinationRegistry['load']> {
      return Promise.resolve({ sources: [{ name: 'customer', writeKey: 'wk_customer' }], destinations: [] });
    }
  }

  @Module({ providers: [Customers], exports: [Customers] })
  class CustomersModule {}

  it('is a class of the application, with forRoot and forRootAsync', async () => {
    for (const registering of [
      WebhookDestinationModule.forRoot({ queue: memoryQueue(), registry: { useExisting: Customers } }),
      WebhookDestinationModule.forRootAsync({
        useFactory: () => ({ queue: memoryQueue(), registry: { useClass: Customers } }),
      }),
    ]) {
      const testing = await Test.createTestingModule({ imports: [CustomersModule, registering] })
        .setLogger(new LogLines())
        .compile();
      const app = await testing.createNestApplication().init();
      cleanUp(() => app.close());
      const service = app.get(WebhookDestinationService);
      await service.accept('wk_customer', [{ type: 'track', userId: 'u1', event: 'Ordered' }]);
      app.get(Customers).changes$.next({ remove: { source: 'customer' } });
      await expect(service.accept('wk_customer', [])).rejects.toMatchObject({ code: 'write_key_unknown' });
    }
  });

  it('stops the start with its error', async () => {
    const load = () => Promise.reject(new Error('no database'));
    await expect(Relay.start({ registry: { useValue: { load } } })).rejects.toThrow(
      "load() of the application's registry failed: no database",
    );
  });

  it('shows no key and no secret to who looks at the objects of the application', async () => {
    const relay = await start({ queue: memoryQueue(), registrySecret: 's3cret of the registry' });
    const { sources, destinations } = relay.service;
    await sources.create({ name: 'customer', writeKey: 's3cret-key' });
    const urls = ['http://user:s3cret@127.0.0.1:9/hook?s3cret'];
    await destinations.create({ name: 'hook', urls, headers: { Authorization: 's3cret' } });
    await destinations.rotateSecret('hook', { secret: 's3cret-secret' });
    await sources.rotateKey('customer', { key: 's3cret-other' });
    const leaks = [...stringsBelow(relay.service)].filter(([text]) => text.includes('s3cret'));
    expect(leaks.map(([, path]) => path)).toEqual([]);
  });
});
