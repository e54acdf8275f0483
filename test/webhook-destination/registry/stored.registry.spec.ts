import { setImmediate as nextTurn } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { RegistryRecord } from '../../../lib/webhook-destination/queue/registry-store.interface.js';
import { MemoryRegistryStore } from '../../../lib/stores/memory/memory-registry.store.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { fakeTimers } from '../../support/clock.js';
import { LogLines } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';
import { RegistryProcess, SharedStore } from './support/registry.process.js';

const SECRET = 'a secret of the registry';
const OLD_SECRET = 'an older secret of the registry';
const urls = ['https://receiver.example/hook'];

const cleanUp = useCleanUps();
let log: LogLines;
beforeEach(() => {
  log = new LogLines();
  Logger.overrideLogger(log);
});
afterEach(() => {
  vi.useRealTimers();
});

async function start(options: ConstructorParameters<typeof RegistryProcess>[0]): Promise<RegistryProcess> {
  const started = await RegistryProcess.start(options);
  cleanUp(() => started.stop());
  return started;
}

/** Two processes on one store. */
async function startTwo(options: Partial<ConstructorParameters<typeof RegistryProcess>[0]> = {}) {
  const store = new SharedStore();
  const one = await start({ ...options, store: store.connect() });
  const other = await start({ ...options, store: store.connect() });
  return { store, one, other };
}

describe('The stored registry', () => {
  it('takes at start what is stored, in the order of the changes', async () => {
    const store = new MemoryRegistryStore();
    const first = await start({ store });
    await first.sources.create({ name: 'shop', writeKey: 'wk_shop' });
    await first.destinations.create({ name: 'crm', urls, sources: ['shop'] });
    await first.destinations.create({ name: 'gone', urls });
    await first.destinations.remove('gone');
    await first.sources.rotateKey('shop', { key: 'wk_new' }); // comes after the destination that names it

    const { listener } = await start({ store });
    expect(listener.calls).toEqual(['put crm', 'remove gone', 'put shop']);
    expect(listener.sources.get('shop')).toEqual({ name: 'shop', writeKey: 'wk_new', previousKey: 'wk_shop' });
    expect(listener.destinations.get('crm')).toMatchObject({ name: 'crm', urls, sources: ['shop'], pauses: [] });
  });

  it('does in another process what changed in one, once each', async () => {
    const { one, other } = await startTwo();
    await one.sources.create({ name: 'shop' });
    await one.destinations.create({ name: 'crm', urls });
    await one.destinations.update('crm', { enabled: false });
    await one.sources.remove('shop');
    await waitFor(() => other.listener.calls.includes('remove shop'));
    await waitFor(() => other.listener.destinations.get('crm')?.enabled === false);
    expect(one.listener.calls).toEqual(['put shop', 'put crm', 'put crm', 'remove shop']);
    expect(new Set(other.listener.calls).size).toBeLessThanOrEqual(one.listener.calls.length);
  });

  it('gives the endpoints of a tenant all its sources together, before another part of the process runs', async () => {
    const store = new SharedStore();
    const tenantKey = 'tenant';
    const metadata = { tenant: 'acme' };
    const one = await start({ store: store.connect(), tenantKey });
    await one.destinations.createForTenant({ name: 'hook', urls, metadata });
    const { listener } = await start({ store: store.connect(), tenantKey });
    store.isSignalling = false;
    for (let number = 0; number < 500; number++) await one.sources.create({ name: `source-${number}`, metadata });
    listener.calls.length = 0;
    store.signal();
    let turns = 0;
    for (; listener.sources.size < 500; turns++) {
      await nextTurn();
      expect(listener.destinations.get('hook')!.sources).toHaveLength(listener.sources.size);
    }
    expect(turns).toBeGreaterThan(0);
    expect(listener.calls.filter((call) => call === 'put hook').length).toBeLessThan(5);

    const late = await start({ store: store.connect(), tenantKey });
    expect(late.listener.calls.filter((call) => call === 'put hook').length).toBeLessThan(3);
    expect(late.listener.destinations.get('hook')!.sources).toHaveLength(500);
  });

  it('learns of a change within 5 s where its signal is lost', async () => {
    fakeTimers();
    const { store, one, other } = await startTwo();
    store.isSignalling = false;
    await one.destinations.create({ name: 'crm', urls });
    await vi.advanceTimersByTimeAsync(4_900);
    expect(other.listener.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(other.listener.calls).toEqual(['put crm']);
  });

  it('asks a store of this process alone for nothing while nothing happens', async () => {
    fakeTimers();
    const store = new MemoryRegistryStore();
    await start({ store });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps its last state during an outage, says so once, and catches up after it', async () => {
    fakeTimers();
    const { store, one, other } = await startTwo();
    await one.destinations.create({ name: 'crm', urls });
    await vi.advanceTimersByTimeAsync(0);
    const reader = store.connect();
    store.outage = new Error('the store has gone');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(log.matching(/registry cannot be read.*the store has gone/)).toHaveLength(2); // one of each process
    expect(other.listener.destinations.has('crm')).toBe(true);
    await expect(other.destinations.update('crm', { enabled: false })).rejects.toThrow('the store has gone');
    expect(other.listener.destinations.get('crm')!.enabled).toBe(true);

    store.outage = undefined;
    const { document, revision } = (await reader.read(0)).at(-1)!;
    const changed = document!.replace('https://receiver.example/hook', 'https://elsewhere.example/hook');
    await reader.write({ kind: 'destination', name: 'crm', document: changed }, revision);
    await vi.advanceTimersByTimeAsync(5_000);
    for (const { listener } of [one, other]) {
      expect(listener.destinations.get('crm')!.urls).toEqual(['https://elsewhere.example/hook']);
    }
    store.outage = new Error('the store has gone again');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(log.matching(/the store has gone again/)).toHaveLength(2);
  });

  it('stops the start where the store cannot be read', async () => {
    const store = new SharedStore();
    store.outage = new Error('the store has gone');
    const process = new RegistryProcess({ store: store.connect() });
    cleanUp(() => process.stop());
    await expect(process.open()).rejects.toThrow('the store has gone');
    await expect(process.destinations.list()).rejects.toThrow('the store has gone');
  });

  it('does nothing more once it is closed', async () => {
    const { store, one, other } = await startTwo();
    other.stop();
    await one.destinations.create({ name: 'crm', urls });
    store.signal();
    await expect(other.destinations.create({ name: 'erp', urls })).rejects.toMatchObject({ code: 'closed' });
    expect(other.listener.calls).toEqual([]);
  });

  it('refuses calls where the application closes before it is open', async () => {
    const process = new RegistryProcess({ store: new MemoryRegistryStore() });
    const listed = process.destinations.list();
    process.stop();
    await expect(listed).rejects.toMatchObject({ code: 'closed' });
  });

  it('never goes back to an earlier form', async () => {
    const store = new SharedStore();
    const connected = store.connect();
    let earlier: RegistryRecord[] = [];
    const late = { ...connected, read: async (after: number) => [...(await connected.read(after)), ...earlier] };
    const { destinations, listener } = await start({ store: late });
    await destinations.create({ name: 'crm', urls });
    earlier = await store.records();
    await destinations.update('crm', { enabled: false });
    expect(listener.destinations.get('crm')!.enabled).toBe(false);
  });

  describe('entries at fault', () => {
    it('leaves in use what was, and names entry, field and rule', async () => {
      const { one, other } = await startTwo({ delivery: { allowedNetworks: ['10.0.0.1'] } });
      const store = new SharedStore();
      const lax = await start({ store: store.connect(), delivery: { allowedNetworks: ['10.0.0.0/8'] } });
      const strict = await start({ store: store.connect() });
      await lax.destinations.create({ name: 'crm', urls });
      await waitFor(() => strict.listener.destinations.has('crm'));
      await lax.destinations.update('crm', { urls: ['https://10.0.0.2/hook'], sharedSecret: null });
      await waitFor(() => log.matching(/Destination "crm"/).length > 0);
      expect(
        log.matching(
          /Destination "crm" of the registry is invalid, and its last valid version stays in use: urls\[0\] must/,
        ),
      ).toHaveLength(1);
      expect(strict.listener.destinations.get('crm')!.urls).toEqual(urls);
      expect(await strict.destinations.get('crm')).toMatchObject({
        fault: expect.stringContaining('urls[0] must not'),
      });

      expect((await strict.destinations.inUse()).map((destination) => destination.urls)).toEqual([urls]);

      // At start there is no last form.
      const { listener } = await start({ store: store.connect() });
      expect(listener.calls).toEqual([]);
      expect(log.matching(/Destination "crm" of the registry is invalid and not used: urls\[0\] must/)).toHaveLength(1);
      expect([one.listener.calls, other.listener.calls]).toEqual([[], []]);
    });

    it('ends a rotation there too', async () => {
      const store = new SharedStore();
      const lax = await start({ store: store.connect(), delivery: { allowedNetworks: ['10.0.0.0/8'] } });
      await lax.destinations.create({ name: 'crm', urls: ['https://10.0.0.2/hook'], sharedSecret: 'first-secret' });
      await lax.destinations.rotateSecret('crm', { secret: 'second-secret', overlap: 300 });
      const strict = await start({ store: store.connect() });
      lax.stop();
      const stored = async () => JSON.stringify(await store.connect().read(0));
      expect(await stored()).toContain('first-secret');
      await waitFor(async () => !(await stored()).includes('first-secret'));
      expect(await strict.destinations.get('crm')).toMatchObject({
        fault: expect.stringContaining('urls[0] must not'),
      });
      const { listener } = await start({ store: store.connect() });
      expect(listener.calls).toEqual([]); // it is still at fault for those that read it
    });

    it('refuses what it cannot read, without showing it', async () => {
      const store = new MemoryRegistryStore();
      await store.write({ kind: 'destination', name: 'crm', document: '{"options":s3cret' }, 0);
      await store.write({ kind: 'source', name: 'shop', document: '{"options":{"name":"other"}}' }, 0);
      await store.write({ kind: 'source', name: 'web', document: 'v9:s3cret' }, 0);
      const { listener, destinations } = await start({ store });
      expect(listener.calls).toEqual([]);
      expect(log.matching(/not used: the entry cannot be read/)).toHaveLength(3);
      expect(log.lines.join()).not.toContain('s3cret');
      expect(await destinations.list()).toEqual([]);
      const field = 'name';
      await expect(destinations.pause('crm')).rejects.toMatchObject({ code: 'registry_unreadable', field });
      await expect(destinations.create({ name: 'crm', urls })).rejects.toMatchObject({
        code: 'destination_exists',
        field,
      });
      await destinations.remove('crm');
      await destinations.create({ name: 'crm', urls });
      expect(listener.calls).toEqual(['remove crm', 'put crm']);
    });

    it('uses a source whose key another one gives up', async () => {
      const store = new MemoryRegistryStore();
      const document = (name: string) => JSON.stringify({ options: { name, writeKey: 'wk_same' } });
      await store.write({ kind: 'source', name: 'first', document: document('first') }, 0);
      await store.write({ kind: 'source', name: 'second', document: document('second') }, 0);
      const { listener, sources } = await start({ store });
      expect(listener.calls).toEqual(['put first']);
      expect(
        log.matching(/Source "second" of the registry is invalid and not used: writeKey must differ/),
      ).toHaveLength(1);
      await sources.remove('first');
      expect(listener.calls).toEqual(['put first', 'remove first', 'put second']);
    });
  });

  describe('beside fixed entries', () => {
    const sources = [{ name: 'shop', writeKey: 'wk_fixed' }];
    const destinations = [{ name: 'crm', urls: ['https://fixed.example/hook'] }];

    it('gives those precedence, with a warning', async () => {
      const store = new MemoryRegistryStore();
      const before = await start({ store });
      await before.sources.create({ name: 'shop', writeKey: 'wk_stored' });
      await before.destinations.create({ name: 'crm', urls });
      const { listener, ...managers } = await start({ store, sources, destinations });
      expect(listener.calls).toEqual([]);
      expect(log.matching(/Source "shop" is in the module's options and in the registry/)).toHaveLength(1);
      expect(log.matching(/Destination "crm" is in the module's options and in the registry/)).toHaveLength(1);
      expect(await managers.destinations.get('crm')).toMatchObject({ origin: 'fixed', urls: destinations[0]!.urls });
      await managers.registry.change('destination', 'crm', () => null);
      expect(listener.calls).toEqual([]);
    });

    it('lets no entry have the write key of a fixed one', async () => {
      const { sources: manager } = await start({ store: new MemoryRegistryStore(), sources });
      await expect(manager.create({ name: 'web', writeKey: 'wk_fixed' })).rejects.toThrow(
        'Source "web": writeKey must differ from that of every other source',
      );
    });

    it('warns of a fixed destination on a source that does not exist', async () => {
      const on = (source: string) => ({ name: `on ${source}`, urls, sources: [source] });
      const store = new MemoryRegistryStore();
      await (await start({ store })).sources.create({ name: 'stored' });
      await start({ store, sources, destinations: [on('shop'), on('stored'), on('nowhere')] });
      expect(log.matching(/sources must name/)).toEqual([
        expect.stringContaining(
          'Destination "on nowhere": sources must name existing sources; "nowhere" does not exist',
        ),
      ]);
    });
  });

  describe('with registrySecret', () => {
    it('stores nothing that can be read without it', async () => {
      const store = new SharedStore();
      const { sources, destinations } = await start({ store: store.connect(), secret: SECRET });
      await sources.create({ name: 'shop', writeKey: 'wk_hidden' });
      await destinations.create({ name: 'crm', urls, sharedSecret: 'shared hidden', metadata: { tenant: 'hidden' } });
      await destinations.rotateSecret('crm');
      expect(await store.text()).not.toMatch(/hidden|receiver\.example/);

      const { listener } = await start({ store: store.connect() });
      expect(listener.calls).toEqual([]);
      expect(log.matching(/registrySecret must be the secret it is encrypted with/)).toHaveLength(2);
    });

    it('rewrites at start what is plain or under an older secret', async () => {
      const store = new SharedStore();
      const plain = await start({ store: store.connect() });
      await plain.sources.create({ name: 'shop', writeKey: 'wk_hidden' });
      plain.stop();
      const older = await start({ store: store.connect(), secret: OLD_SECRET });
      await waitFor(async () => !(await store.text()).includes('hidden'));
      const before = (await older.sources.get('shop'))!;
      older.stop();

      const underOld = (await store.records())[0]!;
      const { sources, listener } = await start({ store: store.connect(), secret: [SECRET, OLD_SECRET] });
      await waitFor(async () => (await store.records())[0]!.revision > underOld.revision);
      expect(await sources.get('shop')).toEqual(before); // when it was changed, too
      expect(listener.calls).toEqual(['put shop']);
      const only = await start({ store: store.connect(), secret: SECRET });
      expect(only.listener.sources.get('shop')).toMatchObject({ writeKey: 'wk_hidden' });
    });

    it('changes nothing in other processes where it only rewrites', async () => {
      const store = new SharedStore();
      const other = await start({ store: store.connect(), secret: [OLD_SECRET, SECRET] });
      await other.sources.create({ name: 'shop' });
      const one = await start({ store: store.connect(), secret: [SECRET, OLD_SECRET] });
      await waitFor(() => store.writes === 2);
      await one.sources.create({ name: 'web' });
      await waitFor(() => other.listener.sources.has('web'));
      expect(other.listener.calls).toEqual(['put shop', 'put web']);
    });

    it('rewrites nothing while it runs: secrets may come in another order elsewhere', async () => {
      const store = new SharedStore();
      const one = await start({ store: store.connect(), secret: [SECRET, OLD_SECRET] });
      const other = await start({ store: store.connect(), secret: [OLD_SECRET, SECRET] });
      await one.sources.create({ name: 'shop' });
      await other.sources.rotateKey('shop');
      await waitFor(() => one.listener.sources.get('shop')?.previousKey !== undefined);
      await one.sources.create({ name: 'web' });
      await waitFor(() => other.listener.sources.has('web'));
      expect(store.writes).toBe(3);
    });
  });

  it('checks every entry at start, also those that another process wrote', async () => {
    const store = new SharedStore();
    const { destinations } = await start({ store: store.connect() });
    await destinations.create({ name: 'crm', urls });
    const [record] = await store.records();
    const document = record!.document!.replace(urls[0]!, 'https://10.0.0.1/hook');
    await store.connect().write({ ...record!, document }, record!.revision);
    const { listener } = await start({ store: store.connect() });
    expect(listener.calls).toEqual([]);
    expect(log.matching(/Destination "crm" of the registry is invalid and not used: urls\[0\] must/)).toHaveLength(1);
  });

  it('keeps what it stored, whatever the caller then changes', async () => {
    const { destinations, listener } = await start({ store: new MemoryRegistryStore() });
    const given = { name: 'crm', urls: [...urls], metadata: { tenant: 't1' } };
    await destinations.create(given);
    given.urls.push('https://other.example/hook');
    given.metadata.tenant = 't2';
    await destinations.update('crm', { enabled: false });
    expect(listener.destinations.get('crm')).toMatchObject({ urls, metadata: { tenant: 't1' } });
  });
});
