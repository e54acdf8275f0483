import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { MemoryRegistryStore } from '../../../lib/stores/memory/memory-registry.store.js';
import type { RegistryStore } from '../../../lib/webhook-destination/queue/registry-store.interface.js';
import { recentPauses } from '../../../lib/webhook-destination/dispatch/pause.util.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { fakeTimers } from '../../support/clock.js';
import { LogLines } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';
import { RegistryProcess, SharedStore } from './support/registry.process.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const urls = ['https://receiver.example/hook'];

const cleanUp = useCleanUps();
beforeEach(() => {
  Logger.overrideLogger(new LogLines());
});
afterEach(() => {
  vi.useRealTimers();
});

const fakeTime = () => fakeTimers({ now: 0 });

async function start(
  options: ConstructorParameters<typeof RegistryProcess>[0] = { store: new MemoryRegistryStore() },
): Promise<RegistryProcess> {
  const started = await RegistryProcess.start({ ...options });
  cleanUp(() => started.stop());
  return started;
}

describe('Destinations of the registry', () => {
  it('are created durably, in use at once, and shown without secrets', async () => {
    const store = new MemoryRegistryStore();
    const { destinations, listener } = await start({ store });
    const created = await destinations.create({
      name: 'crm',
      urls: ['https://user:password@receiver.example/hook?token=1'],
      headers: { Authorization: 's3cret' },
      sharedSecret: 's3cret',
      events: ['Order *'],
      metadata: { tenant: 't1' },
    });
    expect(created).toEqual({
      name: 'crm',
      origin: 'store',
      enabled: true,
      paused: false,
      urls: ['https://receiver.example/hook'],
      headers: ['Authorization'],
      signed: true,
      transformed: false,
      events: ['Order *'],
      metadata: { tenant: 't1' },
      propagateTrace: false,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    });
    expect(created).not.toHaveProperty('sharedSecret');
    expect(await destinations.get('crm')).toEqual(created);
    expect(await destinations.list()).toEqual([created]);
    expect(listener.destinations.get('crm')).toMatchObject({
      urls: ['https://user:password@receiver.example/hook?token=1'],
      headers: { Authorization: 's3cret' },
      sharedSecret: 's3cret',
    });
    expect((await store.read(0))[0]).toMatchObject({ kind: 'destination', name: 'crm' });
  });

  it('get a secret, which is shown once', async () => {
    const { destinations, listener } = await start();
    const { sharedSecret, name } = await destinations.create({ urls });
    expect(name).toBe('Webhooks');
    expect(sharedSecret).toMatch(/^whsec_/);
    expect(Buffer.from(sharedSecret!.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(listener.destinations.get('Webhooks')!.sharedSecret).toBe(sharedSecret);
    expect(JSON.stringify(await destinations.list())).not.toContain(sharedSecret);
  });

  it('obey the rules of forRoot; a refused one changes nothing', async () => {
    const store = new MemoryRegistryStore();
    const { destinations, sources, listener } = await start({ store, delivery: { httpsOnly: true } });
    await sources.create({ name: 'shop' });
    const refusals: [options: unknown, message: RegExp][] = [
      [undefined, /Destination "Webhooks": urls must/],
      [{ name: 42, urls }, /name must be a non-empty string/],
      [{ name: 'All', urls }, /name must be a non-empty string other than All/],
      [{ urls: ['ftp://receiver.example'] }, /urls must contain only http or https URLs/],
      [{ urls: ['https://10.0.0.1/hook'] }, /urls\[0\] must not be a private or local address/],
      [
        { urls: ['http://receiver.example/hook'] },
        /urls\[0\] must be an https URL, because delivery.httpsOnly is true/,
      ],
      [{ urls, headers: { Host: 'x' } }, /headers must not include .*: Host$/],
      [{ urls, sources: ['shop', 'nowhere'] }, /sources must name existing sources; "nowhere" does not exist/],
      [{ urls, sharedSecret: undefined }, /sharedSecret must be .*it is undefined/],
      [{ urls, sharedSecret: 'short', standardWebhooks: true }, /sharedSecret must have at least 24 bytes/],
      [{ urls, retries: 3 }, /retries is not a known option/],
      [
        { urls: ['https://10.0.0.1/hook'], concurrency: 0, sources: ['nowhere'] },
        /concurrency must [^]*urls\[0\] must not be a private [^]*"nowhere" does not exist$/,
      ],
      [{ urls: [], sources: 'shop' }, /^[^\n]*\n {2}- urls must contain.*\n {2}- sources must be an array.*$/],
      [{ urls, transform: () => ({}) }, /Destination "Webhooks": transform can only be declared in code/],
    ];
    for (const [options, message] of refusals) {
      const refused = destinations.create(options as Parameters<typeof destinations.create>[0]);
      await expect(refused).rejects.toMatchObject({ code: 'options_invalid', message: expect.stringMatching(message) });
    }
    const created = await destinations.create({ name: 'crm', urls, sources: ['shop'] });
    await expect(destinations.update('crm', { urls: [] })).rejects.toThrow(
      /Destination "crm": urls must contain 1 to 5/,
    );
    expect(await destinations.get('crm')).toMatchObject({ updatedAt: created.updatedAt });
    expect(listener.calls).toEqual(['put shop', 'put crm']);
    expect(await store.read(0)).toHaveLength(2);
  });

  it("are refused without the operator's networks: a customer may read the error", async () => {
    const delivery = { allowedNetworks: ['192.168.77.0/24', '10.9.0.0/16'], deniedNetworks: ['10.9.1.0/24'] };
    const { destinations } = await start({ store: new SharedStore().connect(), delivery });
    for (const [url, rule] of [
      ['http://172.16.0.1/', 'must not be a private or local address outside delivery.allowedNetworks'],
      ['http://10.9.1.1/', 'must not be an address in delivery.deniedNetworks'],
    ] as const) {
      await expect(destinations.create({ urls: [url] })).rejects.toMatchObject({
        field: 'urls[0]',
        message: `Destination "Webhooks": urls[0] ${rule}`,
      });
    }
    await expect(destinations.create({ urls: ['http://10.9.0.1/'] })).resolves.toMatchObject({ name: 'Webhooks' });
  });

  it('have names that differ, across processes too', async () => {
    const store = new SharedStore();
    const [one, other] = await Promise.all([start({ store: store.connect() }), start({ store: store.connect() })]);
    const both = [one, other].map(({ destinations }) => destinations.create({ name: 'crm', urls }));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { reason } = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: 'destination_exists' });
  });

  it('are updated: undefined leaves a field, null gives it its default', async () => {
    const { destinations, sources, listener } = await start();
    await sources.create({ name: 'shop' });
    await destinations.create({ name: 'crm', urls, sources: ['shop'], concurrency: 4, headers: { a: 'b' } });
    const updated = await destinations.update('crm', { enabled: false, sources: undefined, concurrency: null });
    expect(updated).toMatchObject({ enabled: false, sources: ['shop'], headers: ['a'] });
    expect(updated.concurrency).toBeUndefined();
    expect(listener.destinations.get('crm')).toMatchObject({ enabled: false, sources: ['shop'], headers: { a: 'b' } });
    expect((await destinations.update('crm', { headers: null })).headers).toEqual([]);
    await expect(destinations.update('crm', { urls: null })).rejects.toThrow(/urls must/);
    for (const [field, rule] of [
      ['name', 'cannot be changed'],
      ['sharedSecret', 'can only be changed with rotateSecret()'],
      ['transform', 'can only be declared in code'],
      ['retries', 'is not a known option'],
      ['constructor', 'is not a known option'],
    ]) {
      await expect(destinations.update('crm', { [field!]: null })).rejects.toThrow(`${field} ${rule}`);
    }
    await expect(destinations.update('crm', 42 as never)).rejects.toMatchObject({
      field: 'patch',
      faults: ['patch must be an object'],
    });
  });

  it('send nothing concealed to a new scheme, host or port unless it is given again', async () => {
    const { destinations, listener } = await start();
    const headers = { 'X-Key': 'k' };
    const sharedSecret = 'the present one';
    const patch = (urls: string[], others: object = {}) => destinations.update('crm', { urls, ...others });
    for (const url of ['http://receiver.example/hook', 'https://receiver.example:8443/', 'https://other.example/']) {
      await destinations.create({ name: 'crm', urls, headers, sharedSecret });
      await destinations.rotateSecret('crm', { secret: 'an older one' });
      await destinations.rotateSecret('crm', { secret: sharedSecret });
      expect((await patch(['https://RECEIVER.example:443/other?token'])).headers).toEqual(['X-Key']);
      for (const given of [{}, { headers }, { sharedSecret }, { headers: undefined, sharedSecret: null }]) {
        await expect(patch([...urls, url], given)).rejects.toMatchObject({ code: 'options_invalid' });
      }
      expect(await patch([...urls, url], { headers: {}, sharedSecret })).not.toHaveProperty('sharedSecret');
      expect(listener.destinations.get('crm')).toMatchObject({ headers: {}, sharedSecret });
      const { sharedSecret: generated } = await patch(['https://third.example/'], { sharedSecret: null });
      expect(listener.destinations.get('crm')!.sharedSecret).toBe(generated);
      await destinations.remove('crm');
    }
  });

  it('can be changed in other ways once a source of theirs was removed', async () => {
    const { destinations, sources } = await start();
    await sources.create({ name: 'shop' });
    await destinations.create({ name: 'crm', urls, sources: ['shop'] });
    await sources.remove('shop');
    expect(await destinations.update('crm', { enabled: false })).toMatchObject({ sources: ['shop'] });
    await expect(destinations.update('crm', { sources: ['shop'] })).rejects.toThrow('"shop" does not');
  });

  it('are changed from what they are, though others change them at the same time', async () => {
    const store = new SharedStore();
    const [one, other] = await Promise.all([start({ store: store.connect() }), start({ store: store.connect() })]);
    await one.destinations.create({ name: 'crm', urls });
    await Promise.all([
      one.destinations.update('crm', { enabled: false }),
      other.destinations.update('crm', { concurrency: 4 }),
      one.destinations.update('crm', { metadata: { tenant: 't1' } }),
      other.destinations.pause('crm'),
    ]);
    for (const { destinations } of [one, other]) {
      await waitFor(async () => (await destinations.get('crm'))?.paused === true);
    }
    expect(await one.destinations.get('crm')).toMatchObject({
      enabled: false,
      concurrency: 4,
      metadata: { tenant: 't1' },
      paused: true,
    });
  });

  it('can be changed by many calls of one process at once', async () => {
    const store = new MemoryRegistryStore();
    const { destinations } = await start({ store });
    await destinations.create({ name: 'crm', urls });
    const counts = Array.from({ length: 40 }, (_, index) => String(index));
    await Promise.all(counts.map((count) => destinations.update('crm', { metadata: { count } })));
    expect((await destinations.get('crm'))?.metadata).toEqual({ count: '39' });
    await Promise.allSettled([destinations.create({ name: 'crm', urls }), destinations.remove('crm')]);
    expect(await destinations.get('crm')).toBeUndefined();
  });

  it('can be changed in one process as soon as another has created them', async () => {
    const store = new SharedStore();
    const [one, other] = await Promise.all([start({ store: store.connect() }), start({ store: store.connect() })]);
    store.isSignalling = false;
    await one.destinations.create({ name: 'crm', urls });
    expect(await other.destinations.update('crm', { enabled: false })).toMatchObject({ enabled: false });
  });

  it('stay removed where another process removes them as soon as they are written', async () => {
    const shared = new SharedStore();
    const store = shared.connect();
    const removing: RegistryStore = {
      ...store,
      write: async (record, expected) => {
        const revision = await store.write(record, expected);
        await store.write({ ...record, document: undefined }, revision!);
        return revision;
      },
    };
    const { destinations, listener } = await start({ store: removing });
    await expect(destinations.create({ name: 'crm', urls })).rejects.toMatchObject({ code: 'destination_unknown' });
    expect(listener.destinations.size).toBe(0);
  });

  it('give up where others overtake each attempt', async () => {
    const store = new MemoryRegistryStore();
    const losing: RegistryStore = { read: (after) => store.read(after), write: () => Promise.resolve(undefined) };
    const { destinations } = await start({ store: losing });
    await expect(destinations.create({ name: 'crm', urls })).rejects.toMatchObject({
      code: 'registry_conflict',
      field: 'name',
    });
  });

  it('are removed; what is unknown is named', async () => {
    const { destinations, listener } = await start();
    await destinations.create({ name: 'crm', urls });
    await destinations.remove('crm');
    expect(listener.calls).toEqual(['put crm', 'remove crm']);
    expect(await destinations.get('crm')).toBeUndefined();
    for (const call of [
      () => destinations.remove('crm'),
      () => destinations.update('crm', {}),
      () => destinations.pause('crm'),
      () => destinations.resume('crm'),
      () => destinations.rotateSecret('crm'),
      () => destinations.test('crm'),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'destination_unknown',
        message: 'destination "crm" does not exist',
      });
    }
    await destinations.create({ name: 'crm', urls });
    expect(listener.calls).toHaveLength(3);
  });

  it('are listed by name and metadata, page by page', async () => {
    const fixed = [{ name: 'm', urls, metadata: { tenant: 't1', plan: 'free' } }];
    const { destinations } = await start({ store: new MemoryRegistryStore(), destinations: fixed });
    for (const name of ['z', 'a', 'B']) await destinations.create({ name, urls, metadata: { tenant: 't1' } });
    await destinations.create({ name: 'c', urls, metadata: { tenant: 't2' } });
    const names = async (query?: Parameters<typeof destinations.list>[0]) =>
      (await destinations.list(query)).map(({ name }) => name);
    expect(await names()).toEqual(['B', 'a', 'c', 'm', 'z']);
    expect(await names({ metadata: { tenant: 't1' } })).toEqual(['B', 'a', 'm', 'z']);
    expect(await names({ metadata: { tenant: 't1', plan: 'free' } })).toEqual(['m']);
    expect(await names({ limit: 2, after: 'a' })).toEqual(['c', 'm']);
    await expect(names({ limit: 0 })).rejects.toMatchObject({ code: 'argument_invalid' });
    await expect(names({ after: 1 as never })).rejects.toThrow('after must be a string');
    for (const metadata of ['tenant', null]) {
      await expect(names({ metadata: metadata as never })).rejects.toThrow('metadata must be an object');
    }
    await expect(names(null as never)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: 'the query must be an object',
    });
  });

  it('are paused and resumed, as often as it is called', async () => {
    fakeTime();
    const { destinations, listener } = await start();
    await destinations.create({ name: 'crm', urls });
    vi.setSystemTime(1_000);
    expect(await destinations.pause('crm')).toMatchObject({ paused: true, updatedAt: 1_000 });
    vi.setSystemTime(2_000);
    expect(await destinations.pause('crm')).toMatchObject({ paused: true, updatedAt: 1_000 });
    expect(listener.destinations.get('crm')!.pauses).toEqual([{ from: 1_000 }]);
    expect(await destinations.resume('crm')).toMatchObject({ paused: false });
    vi.setSystemTime(3_000);
    await destinations.resume('crm');
    expect(listener.destinations.get('crm')!.pauses).toEqual([{ from: 1_000, to: 2_000 }]);
  });

  it('keep the pauses that a retry window may contain', async () => {
    fakeTime();
    const { destinations, listener } = await start();
    await destinations.create({ name: 'crm', urls });
    const at = async (hours: number, change: 'pause' | 'resume') => {
      vi.setSystemTime(hours * HOUR);
      await destinations[change]('crm');
    };
    await at(0, 'pause');
    await at(1, 'resume');
    await at(3, 'pause');
    await at(100, 'resume');
    // 2 h unpaused between the two, and 1.5 h since: 3.5 of the 4 h of the window
    await at(101.5, 'pause');
    expect(listener.destinations.get('crm')!.pauses).toHaveLength(3);
    await at(102, 'resume');
    vi.setSystemTime(103 * HOUR);
    await destinations.update('crm', { enabled: false });
    expect(listener.destinations.get('crm')!.pauses).toEqual([
      { from: 3 * HOUR, to: 100 * HOUR },
      { from: 101.5 * HOUR, to: 102 * HOUR },
    ]);
  });

  it('keep them as long as their own retry window, or as they have failed', async () => {
    fakeTime();
    const { destinations, listener, registry } = await start();
    for (const [name, retryWindow] of [
      ['day', 24 * HOUR],
      ['failing', undefined],
    ] as const) {
      vi.setSystemTime(0);
      await destinations.create({ name, urls, retryWindow });
      await destinations.pause(name);
      vi.setSystemTime(HOUR);
      await destinations.resume(name);
      await registry.change('destination', name, (entry) => ({
        ...entry!.document!,
        failingSince: retryWindow ? undefined : 0,
      }));
      vi.setSystemTime(20 * HOUR);
      await destinations.update(name, { enabled: false });
      expect(listener.destinations.get(name)!.pauses).toHaveLength(1);
      await destinations.update(name, { retryWindow: null });
      await destinations.enable(name);
      expect(listener.destinations.get(name)!.pauses).toEqual([]);
    }
  });

  it('keep no more than 1,000 pauses', () => {
    const pauses = Array.from({ length: 1_001 }, (_, index) => ({ from: 2 * index, to: 2 * index + 1 }));
    expect(recentPauses(pauses, HOUR, 3_000)).toEqual(pauses.slice(1));
  });

  it('send a test', async () => {
    const sent: [name: string, body: unknown, messageId: string][] = [];
    const attempt = { startedAt: 1, results: [] };
    const { destinations } = await start({
      store: new MemoryRegistryStore(),
      destinations: [{ name: 'fixed', urls, enabled: false }],
      send: ({ name }, body, messageId) => {
        sent.push([name, JSON.parse(body.toString()), messageId]);
        return Promise.resolve(attempt);
      },
    });
    await destinations.create({ name: 'crm', urls });
    expect(await destinations.test('crm')).toBe(attempt);
    await destinations.test('fixed', { type: 'identify', userId: 'u1', traits: { name: 'Zoë' }, messageId: 'm1' });
    await expect(destinations.test('crm', { event: 42 })).rejects.toMatchObject({
      code: 'argument_invalid',
      field: 'event',
    });
    const timestamp = expect.any(String);
    expect(sent).toEqual([
      [
        'crm',
        { version: 1, type: 'track', event: 'Test Event', anonymousId: 'test', timestamp },
        expect.stringMatching(/^test-/),
      ],
      ['fixed', { version: 1, type: 'identify', userId: 'u1', traits: { name: 'Zoë' }, timestamp }, 'm1'],
    ]);
  });
});

describe('Destinations that another process accepts and this one refuses', () => {
  const http = ['http://receiver.example/hook'];
  const fault = /Destination "crm": urls\[0\] must be an https URL, because delivery.httpsOnly is true/;

  async function startTwo() {
    const store = new SharedStore();
    const tested: string[][] = [];
    const send = (destination: { urls: string[] }) => {
      tested.push(destination.urls);
      return Promise.resolve({ startedAt: 1, results: [] });
    };
    const startStrict = () => start({ store: store.connect(), delivery: { httpsOnly: true }, send });
    return { lax: await start({ store: store.connect() }), startStrict, tested };
  }

  it('are not tested, and can be paused and resumed', async () => {
    const { lax, startStrict, tested } = await startTwo();
    await lax.destinations.create({ name: 'crm', urls: http });
    const { destinations, listener } = await startStrict();
    await expect(destinations.test('crm')).rejects.toThrow(fault);
    expect(tested).toEqual([]);
    for (const change of ['pause', 'resume'] as const) {
      const paused = change === 'pause';
      expect(await destinations[change]('crm')).toMatchObject({ paused, fault: expect.stringContaining('https URL') });
      await waitFor(async () => (await lax.destinations.get('crm'))!.paused === paused);
    }
    await expect(destinations.update('crm', { enabled: false })).rejects.toThrow(fault);
    expect(listener.calls).toEqual([]);
    const { listener: later } = await startStrict();
    expect(later.calls).toEqual([]); // still invalid here
  });

  it('are tested, paused and resumed in their last valid form', async () => {
    const { lax, startStrict, tested } = await startTwo();
    await lax.destinations.create({ name: 'crm', urls });
    const { destinations, listener } = await startStrict();
    await lax.destinations.update('crm', { urls: http, sharedSecret: null });
    await waitFor(async () => (await destinations.get('crm'))!.fault !== undefined);
    await destinations.test('crm');
    expect(tested).toEqual([urls]);
    const used = () => listener.destinations.get('crm')!;
    await destinations.pause('crm');
    expect(used()).toMatchObject({ urls, pauses: [{ from: expect.any(Number) }] });
    expect(lax.listener.destinations.get('crm')).toMatchObject({ urls: http, pauses: [{}] });
    await lax.destinations.resume('crm');
    await waitFor(() => used().pauses![0]!.to !== undefined);
    expect(used().urls).toEqual(urls);
  });
});

describe('Sources of the registry', () => {
  it('get a write key, which is shown once', async () => {
    const { sources, listener } = await start();
    const { writeKey, ...source } = await sources.create({ name: 'shop' });
    expect(writeKey).toMatch(/^wk_[\w-]{43}$/);
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey });
    expect(await sources.get('shop')).toEqual(source);
    expect(await sources.create({ name: 'web', writeKey: 'wk_web' })).not.toHaveProperty('writeKey');
    expect(JSON.stringify(await sources.list())).not.toMatch(/wk_/);
  });

  it('obey the rules of forRoot', async () => {
    const { sources } = await start();
    await sources.create({ name: 'shop', writeKey: 'wk_shop' });
    for (const name of ['', '.', '..', 'a\ud800', 'a\0', 'x'.repeat(501)]) {
      await expect(sources.create({ name })).rejects.toThrow('name must be a non-empty string other than "."');
    }
    await expect(sources.create({ name: 'web', writeKey: 'wk:web' })).rejects.toThrow('writeKey must be');
    await expect(sources.create({ name: 'web', writeKey: 'wk_shop' })).rejects.toThrow('writeKey must differ');
    await expect(sources.create({ name: 'shop' })).rejects.toMatchObject({ code: 'source_exists' });
    await expect(sources.update('shop', { writeKey: 'wk_new' } as object)).rejects.toThrow(
      'can only be changed with rotateKey()',
    );
    await expect(sources.update('nowhere', {})).rejects.toMatchObject({ code: 'source_unknown' });
    await expect(sources.rotateKey('shop', { key: 'wk:new' })).rejects.toThrow('writeKey must be');
    await sources.remove('shop');
    await sources.create({ name: 'web', writeKey: 'wk_shop' });
  });

  it('never share a write key, whichever processes create them at the same time', async () => {
    const store = new SharedStore();
    const [one, other] = await Promise.all([start({ store: store.connect() }), start({ store: store.connect() })]);
    const results = await Promise.allSettled([
      one.sources.create({ name: 'shop', writeKey: 'wk_same' }),
      other.sources.create({ name: 'web', writeKey: 'wk_same' }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { reason } = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(String(reason)).toContain('writeKey must differ from that of every other source');
    await waitFor(() => one.listener.sources.size === 1 && other.listener.sources.size === 1);
    expect([...one.listener.sources]).toEqual([...other.listener.sources]);
    expect((await store.records()).filter(({ document }) => document !== undefined)).toHaveLength(1);
  });
});

describe('Rotation', () => {
  it('keeps both secrets valid until the overlap ends, everywhere and in the store', async () => {
    fakeTime();
    const store = new SharedStore();
    const one = await start({ store: store.connect() });
    const other = await start({ store: store.connect() });
    const created = await one.destinations.create({ name: 'crm', urls, sharedSecret: 'the first secret' });
    const rotated = await one.destinations.rotateSecret('crm');
    expect(rotated).toMatchObject({ previousSecretUntil: DAY, sharedSecret: expect.stringMatching(/^whsec_/) });
    await vi.advanceTimersByTimeAsync(0);
    for (const { listener } of [one, other]) {
      expect(listener.destinations.get('crm')!.sharedSecret).toEqual([rotated.sharedSecret, 'the first secret']);
    }
    await vi.advanceTimersByTimeAsync(DAY - 1);
    expect(other.listener.destinations.get('crm')!.sharedSecret).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    for (const { listener, destinations } of [one, other]) {
      expect(listener.destinations.get('crm')!.sharedSecret).toBe(rotated.sharedSecret);
      expect(await destinations.get('crm')).toEqual({ ...created, updatedAt: expect.any(Number) });
    }
    expect(await store.text()).not.toContain('the first secret');
    expect(one.listener.calls).toEqual(['put crm', 'put crm', 'put crm']);
  });

  it('keeps both write keys valid, and taken, until the overlap ends', async () => {
    fakeTime();
    const store = new MemoryRegistryStore();
    const { sources, listener } = await start({ store });
    await sources.create({ name: 'shop', writeKey: 'wk_old' });
    expect(await sources.rotateKey('shop', { key: 'wk_new', overlap: HOUR })).not.toHaveProperty('writeKey');
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey: 'wk_new', previousKey: 'wk_old' });
    await expect(sources.create({ name: 'web', writeKey: 'wk_old' })).rejects.toThrow('writeKey must differ');
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey: 'wk_new' });
    expect(JSON.stringify(await store.read(0))).not.toContain('wk_old');
    await sources.create({ name: 'web', writeKey: 'wk_old' });
  });

  it('ends at once what an earlier rotation or an overlap of 0 leaves', async () => {
    fakeTime();
    const store = new SharedStore();
    const { destinations, listener } = await start({ store: { ...store.connect(), changed$: undefined } });
    await destinations.create({ name: 'crm', urls, sharedSecret: ['second', 'first'] });
    await destinations.rotateSecret('crm', { secret: 'third' });
    expect(listener.destinations.get('crm')!.sharedSecret).toEqual(['third', 'second']);
    await destinations.rotateSecret('crm', { secret: 'fourth', overlap: 0 });
    expect(listener.destinations.get('crm')!.sharedSecret).toBe('fourth');
    expect(vi.getTimerCount()).toBe(0);
    expect(store.writes).toBe(3);
  });

  it('ends at once when it is told to, in the store as well', async () => {
    fakeTime();
    const store = new MemoryRegistryStore();
    const { destinations, sources, listener } = await start({ store });
    await destinations.create({ name: 'crm', urls, sharedSecret: 'leaked secret' });
    await destinations.rotateSecret('crm', { secret: 'the new secret' });
    expect(await destinations.endOverlap('crm')).toMatchObject({ name: 'crm', previousSecretUntil: undefined });
    expect(listener.destinations.get('crm')!.sharedSecret).toBe('the new secret');
    await sources.create({ name: 'shop', writeKey: 'wk_leaked' });
    await sources.rotateKey('shop', { key: 'wk_new' });
    expect(await sources.endOverlap('shop')).toMatchObject({ previousKeyUntil: undefined });
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey: 'wk_new' });
    expect(JSON.stringify(await store.read(0))).not.toContain('leaked');
    expect(vi.getTimerCount()).toBe(0);
    const calls = listener.calls.length;
    expect(await destinations.endOverlap('crm')).toMatchObject({ name: 'crm' }); // there is none
    expect(listener.calls).toHaveLength(calls);
    await expect(destinations.endOverlap('none')).rejects.toMatchObject({ code: 'destination_unknown' });
  });

  it('ends after a restart, and for an overlap that no timer reaches', async () => {
    fakeTime();
    const store = new MemoryRegistryStore();
    const first = await start({ store });
    await first.sources.create({ name: 'shop', writeKey: 'wk_1' });
    await first.sources.create({ name: 'web', writeKey: 'wk_a' });
    await first.sources.rotateKey('shop', { key: 'wk_2', overlap: HOUR });
    await first.sources.rotateKey('web', { key: 'wk_b', overlap: 60 * DAY });
    first.stop();
    vi.setSystemTime(2 * HOUR);
    const { listener } = await start({ store });
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey: 'wk_2' });
    await waitForRealTime(async () => !JSON.stringify(await store.read(0)).includes('wk_1'));
    await vi.advanceTimersByTimeAsync(50 * DAY);
    expect(listener.sources.get('web')!.previousKey).toBe('wk_a');
    await vi.advanceTimersByTimeAsync(10 * DAY);
    expect(listener.sources.get('web')!.previousKey).toBeUndefined();
  });

  it('ends in use though the store cannot be written, and there later', async () => {
    fakeTime();
    const store = new SharedStore();
    const { destinations, listener } = await start({ store: store.connect() });
    await destinations.create({ name: 'crm', urls, sharedSecret: 'the first secret' });
    await destinations.rotateSecret('crm', { overlap: HOUR });
    store.outage = new Error('the store has gone');
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(listener.destinations.get('crm')!.sharedSecret).toMatch(/^whsec_/);
    store.outage = undefined;
    expect(await store.text()).toContain('the first secret');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await store.text()).not.toContain('the first secret');
  });

  it('ends in a store of this process alone once that can be written', async () => {
    fakeTime();
    const store = new SharedStore();
    const { sources } = await start({ store: { ...store.connect(), changed$: undefined } });
    await sources.create({ name: 'shop', writeKey: 'wk_old' });
    await sources.rotateKey('shop', { overlap: HOUR });
    store.outage = new Error('the disk is full');
    await vi.advanceTimersByTimeAsync(HOUR);
    store.outage = undefined;
    expect(await store.text()).toContain('wk_old');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await store.text()).not.toContain('wk_old');
  });

  it('refuses what breaks a rule', async () => {
    const { destinations, sources } = await start();
    await destinations.create({ name: 'crm', urls, sharedSecret: 'present' });
    await sources.create({ name: 'shop', writeKey: 'wk_shop' });
    const rotate = (given: unknown) => destinations.rotateSecret('crm', given as { secret?: string });
    await expect(rotate({ secret: 'present' })).rejects.toThrow('secret must differ from the present one');
    await expect(rotate({ secret: ['a', 'b'] })).rejects.toThrow('secret must be a string');
    await expect(rotate({ secret: null })).rejects.toThrow('secret must be a string');
    await expect(rotate({ secret: '' })).rejects.toThrow('sharedSecret must be a non-empty string');
    await expect(rotate({ sharedSecret: 'other' })).rejects.toThrow('sharedSecret is not a known option');
    await expect(rotate({ overlap: -1 })).rejects.toThrow('overlap must be a whole number of milliseconds');
    await expect(sources.rotateKey('shop', { key: 'wk_shop' })).rejects.toThrow('key must differ from the present one');
  });
});

describe('Fixed entries', () => {
  const sources = [{ name: 'shop', writeKey: 'wk_shop' }];
  const destinations = [
    { name: 'crm', urls, sources: ['shop'], sharedSecret: ['second', 'first'] as [string, string] },
    { name: 'chat', urls, transform: () => ({}) },
  ];

  it('are shown, and read-only', async () => {
    const process = await start({ store: new MemoryRegistryStore(), sources, destinations });
    expect(await process.destinations.list()).toMatchObject([
      { name: 'chat', origin: 'fixed', transformed: true, signed: false },
      { name: 'crm', origin: 'fixed', transformed: false, signed: true },
    ]);
    expect(await process.sources.get('shop')).toEqual({ name: 'shop', origin: 'fixed' });
    for (const call of [
      () => process.destinations.update('crm', { enabled: false }),
      () => process.destinations.pause('crm'),
      () => process.destinations.rotateSecret('crm'),
      () => process.destinations.remove('crm'),
      () => process.sources.rotateKey('shop'),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'registry_read_only' });
    }
    await expect(process.destinations.create({ name: 'crm', urls })).rejects.toMatchObject({
      code: 'destination_exists',
    });
  });

  it('are copied into the registry, but for those that must stay in code', async () => {
    const store = new MemoryRegistryStore();
    const before = await start({ store, sources, destinations });
    expect(await before.destinations.importFixed()).toEqual({
      sources: ['shop'],
      destinations: ['crm'],
      refused: ['chat'],
    });
    expect(await before.destinations.importFixed()).toEqual({ sources: [], destinations: [], refused: ['chat'] });
    expect(before.listener.calls).toEqual([]);

    const after = await start({ store });
    expect(after.listener.sources.get('shop')).toEqual(sources[0]);
    expect(after.listener.destinations.get('crm')).toMatchObject(destinations[0]!);
  });
});

/** As `waitFor`, while the timers are fake. */
async function waitForRealTime(condition: () => Promise<boolean>): Promise<void> {
  for (let turns = 0; turns < 1_000; turns++) {
    if (await condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`never: ${condition.toString()}`);
}
