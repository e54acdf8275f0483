import { Inject, Injectable, Logger, Module, type ModuleMetadata, Optional } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Subject } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';

import type {
  DestinationRegistry,
  GivenDestination,
  RegistryChange,
  RegistryOption,
} from '../../../lib/webhook-destination/registry/destination-registry.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { LogLines } from '../../support/relay.js';
import { RegistryProcess } from './support/registry.process.js';

const urls = ['https://receiver.example/hook'];
const TENANTS = Symbol('tenants');

const cleanUp = useCleanUps();
let log: LogLines;
beforeEach(() => {
  log = new LogLines();
  Logger.overrideLogger(log);
});

async function start(options: ConstructorParameters<typeof RegistryProcess>[0]): Promise<RegistryProcess> {
  const process = new RegistryProcess(options);
  cleanUp(() => process.stop());
  await process.open();
  return process;
}

/** The registry of an application that keeps two entries. */
class Kept implements DestinationRegistry {
  readonly changes$ = new Subject<RegistryChange>();

  constructor(
    readonly sources: unknown = [{ name: 'shop', writeKey: 'wk_shop' }],
    readonly destinations: unknown = [{ name: 'crm', urls, sources: ['shop'] }],
  ) {}

  load(): ReturnType<DestinationRegistry['load']> {
    return Promise.resolve({ sources: this.sources, destinations: this.destinations }) as never;
  }
}

describe("The application's own registry", () => {
  it('is loaded at start, and its changes are followed', async () => {
    const kept = new Kept();
    const { listener, destinations } = await start({ registry: { useValue: kept } });
    expect(listener.calls).toEqual(['put shop', 'put crm']);
    expect(listener.destinations.get('crm')).toMatchObject({ enabled: true, pauses: [] });
    expect(await destinations.get('crm')).toMatchObject({ origin: 'application', urls, signed: false });

    const transform = () => ({});
    kept.changes$.next({
      put: {
        destination: { name: 'chat', urls, transform, sources: ['web'] },
        source: { name: 'web', writeKey: 'wk_web' },
      },
    });
    kept.changes$.next({ put: { destination: { name: 'crm', urls, enabled: false } } });
    kept.changes$.next({ remove: { source: 'shop', destination: 'chat' } });
    kept.changes$.next({ remove: { destination: 'unknown' } });
    expect(listener.calls.slice(2)).toEqual(['put web', 'put chat', 'put crm', 'remove shop', 'remove chat']);
    expect(listener.destinations.get('crm')!.enabled).toBe(false);
    expect(log.lines).toEqual([]);
  });

  it('is used as it was when it was checked, until it says that it changed', async () => {
    const destination = { name: 'crm', urls: [...urls], headers: { 'X-Plan': 'silver' } };
    const kept = new Kept([], [destination]);
    const { listener } = await start({ registry: { useValue: kept } });
    const used = () => listener.destinations.get('crm')!;
    destination.urls[0] = 'https://other.example/hook';
    destination.headers['X-Plan'] = 'gold';
    expect(used()).toMatchObject({ urls, headers: { 'X-Plan': 'silver' } });
    kept.changes$.next({ put: { destination } });
    expect(used()).toMatchObject({ urls: ['https://other.example/hook'], headers: { 'X-Plan': 'gold' } });
  });

  it('loses no change that comes while it is loaded', async () => {
    const kept = new Kept();
    const load = kept.load.bind(kept);
    kept.load = async () => {
      const loaded = await load();
      kept.changes$.next({ remove: { destination: 'crm' } });
      return loaded;
    };
    const { listener } = await start({ registry: { useValue: kept } });
    expect(listener.calls).toEqual(['put shop', 'put crm', 'remove crm']);
  });

  it('is refused an entry that breaks a rule, which changes nothing', async () => {
    const kept = new Kept(
      [{ name: 'shop', writeKey: 'wk_shop' }, { name: 'web', writeKey: 'wk_shop' }, 'shop'],
      [
        { name: 'crm', urls },
        { name: 'crm', urls: ['https://other.example'] },
        { name: 'erp', urls: ['https://10.0.0.1/'] },
        { name: 'chat', urls, sources: ['nowhere'], sharedSecret: 's3cret' },
        { urls: [], name: '' },
      ],
    );
    const { listener } = await start({ registry: { useValue: kept } });
    kept.changes$.next({ put: { destination: { name: 'crm', urls: ['ftp://s3cret.example'] } } });
    kept.changes$.next({ put: { source: null as never } });
    kept.changes$.next(undefined as never);
    kept.changes$.next({ put: {} });
    kept.changes$.next({ put: { constructor: {} } } as never);
    kept.changes$.next({ put: { source: { name: 'last', writeKey: 'wk_last' } } });
    expect(listener.calls).toEqual(['put shop', 'put crm', 'put last']);
    expect(listener.destinations.get('crm')!.urls).toEqual(urls);
    const of = "of the application's registry is ignored:";
    expect(log.lines).toEqual([
      `error Source "web" ${of} writeKey must differ from that of every other source`,
      `error sources[2] ${of} must be an object`,
      `error Destination "crm" ${of} name must differ from that of every other destination`,
      expect.stringMatching(`^error Destination "erp" ${of} urls\\[0\\] must not be a private or local address`),
      `error Destination "chat" ${of} sources must name existing sources; "nowhere" does not exist`,
      expect.stringMatching(
        /^error destinations\[4\] .* urls must contain 1 to 5 URLs; name must be a non-empty string other than All/,
      ),
      `error Destination "crm" ${of} urls must contain only http or https URLs`,
      `error A source ${of} must be an object`,
      ...Array<unknown>(3).fill(
        expect.stringMatching(/Ignored a change from the application's registry: it must have either put or remove/),
      ),
    ]);
  });

  it('ignores what it cannot read', async () => {
    const throws = (field: string, others: object = {}) =>
      Object.defineProperty({ ...others }, field, {
        enumerable: true,
        get: () => {
          throw new Error(`no ${field}`);
        },
      });
    const kept = new Kept([throws('name')], [{ urls, metadata: throws('tenant') }]);
    const { listener } = await start({ registry: { useValue: kept } });
    kept.changes$.next(throws('put') as RegistryChange);
    kept.changes$.next({ remove: throws('source') });
    kept.changes$.next({ put: { destination: throws('urls') as GivenDestination } });
    kept.changes$.next({ put: { destination: { name: 'crm', urls, headers: throws('X-Plan') } } });
    kept.changes$.next({ put: { source: { name: 'shop', writeKey: 'wk_shop' } } });
    expect(listener.calls).toEqual(['put shop']);
    const ignored = (subject: string) => `error ${subject} of the application's registry is ignored: cannot be read:`;
    const change = "error Ignored a change from the application's registry: it cannot be read:";
    expect(log.lines).toEqual([
      `${ignored('sources[0]')} no name`,
      `${ignored('Destination "Webhooks"')} no tenant`,
      `${change} no put`,
      `${change} no source`,
      `${ignored('A destination')} no urls`,
      `${ignored('Destination "crm"')} no X-Plan`,
    ]);
  });

  it('stops the start where it cannot be loaded', async () => {
    const failing = { load: () => Promise.reject(new Error('no database')) };
    await expect(start({ registry: { useValue: failing } })).rejects.toMatchObject({
      code: 'registry_unavailable',
      message: "load() of the application's registry failed: no database",
    });
    const wrong = { load: () => Promise.resolve({ sources: {} }) };
    await expect(start({ registry: { useValue: wrong as never } })).rejects.toThrow(
      /load\(\) of the application's registry: .*sources must be an array.*destinations must be an array/s,
    );
    await expect(
      start({ registry: { useValue: { load: () => Promise.resolve(undefined) } as never } }),
    ).rejects.toThrow('sources must be an array');
  });

  it('keeps its last state where its changes end with an error', async () => {
    const kept = new Kept();
    const { listener } = await start({ registry: { useValue: kept } });
    kept.changes$.error(new Error('no database'));
    expect(log.lines).toEqual([
      "error changes$ of the application's registry failed; no more changes are applied until the next start: no database",
    ]);
    expect(listener.destinations.has('crm')).toBe(true);
  });

  it('is followed no more once the application closes', async () => {
    const kept = new Kept();
    const process = await start({ registry: { useValue: kept } });
    process.stop();
    expect(kept.changes$.observed).toBe(false);
  });

  it('takes nothing once the application closes while it is loaded', async () => {
    const kept = new Kept();
    const process = new RegistryProcess({ registry: { useValue: kept } });
    kept.load = () => {
      process.stop();
      return new Kept().load();
    };
    await process.open().catch(() => undefined);
    expect(process.listener.calls).toEqual([]);
  });

  it('can be changed by itself alone', async () => {
    const { sources, destinations } = await start({ registry: { useValue: new Kept() } });
    for (const call of [
      () => destinations.create({ name: 'erp', urls }),
      () => destinations.update('crm', { enabled: false }),
      () => destinations.pause('crm'),
      () => destinations.remove('crm'),
      () => sources.rotateKey('shop'),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'registry_read_only' });
    }
  });

  describe('comes', () => {
    @Injectable()
    class Tenants {
      readonly destinations: GivenDestination[] = [{ name: 'of a tenant', urls }];
    }

    @Injectable()
    class TenantRegistry extends Kept {
      constructor(@Inject(TENANTS) { destinations }: Tenants, @Optional() @Inject('unknown') unknown?: unknown) {
        super([], unknown ?? destinations);
      }
    }

    /** Of another module than the one whose reference finds it. */
    async function startIn(registry: RegistryOption, providers: ModuleMetadata['providers']): Promise<string[]> {
      @Module({ providers, exports: [TENANTS] })
      class TenantsModule {}
      const tenants = { module: TenantsModule, global: true };
      const testing = await Test.createTestingModule({ imports: [tenants] })
        .setLogger(log)
        .compile();
      cleanUp(() => testing.close());
      const { listener } = await start({ registry, moduleRef: testing.get(ModuleRef) });
      return listener.calls;
    }

    const tenants = { provide: TENANTS, useClass: Tenants };

    it('from a provider', async () => {
      const existing = await startIn({ useExisting: TenantRegistry }, [tenants, TenantRegistry]);
      expect(existing).toEqual(['put of a tenant']);
    });

    it('from a class, which a module may provide', async () => {
      expect(await startIn({ useClass: TenantRegistry }, [tenants])).toEqual(['put of a tenant']);
      const provided = { provide: TenantRegistry, useValue: new Kept() };
      expect(await startIn({ useClass: TenantRegistry }, [tenants, provided])).toEqual(['put shop', 'put crm']);
    });

    it('from a factory with what it injects', async () => {
      const useFactory = async ({ destinations }: Tenants, unknown: unknown) => {
        await Promise.resolve();
        return new Kept([], unknown ?? destinations);
      };
      const inject = [TENANTS, { token: 'unknown', optional: true }];
      expect(await startIn({ useFactory, inject }, [tenants])).toEqual(['put of a tenant']);
    });

    it('from nowhere, with an error that says so', async () => {
      const missing = 'registry needs TenantRegistry, which no module provides';
      await expect(startIn({ useExisting: TenantRegistry }, [tenants])).rejects.toThrow(missing);
      const inject = [{ token: 'unknown', optional: false }];
      await expect(startIn({ useFactory: () => new Kept(), inject }, [tenants])).rejects.toThrow(
        'registry needs unknown, which no module provides',
      );
      await expect(startIn({ useFactory: () => ({}) as Kept }, [tenants])).rejects.toThrow(
        'registry must have a load() method',
      );
      const changing = Object.assign(new Kept(), { changes$: {} as Kept['changes$'] });
      await expect(startIn({ useValue: changing }, [tenants])).rejects.toMatchObject({
        code: 'options_invalid',
        message: expect.stringContaining('changes$ of the registry must be an Observable'),
      });
    });
  });

  it('is empty without the option', async () => {
    const process = new RegistryProcess({ registry: undefined, destinations: [{ name: 'crm', urls }] });
    cleanUp(() => process.stop());
    await process.open();
    expect(await process.destinations.list()).toMatchObject([{ name: 'crm', origin: 'fixed' }]);
    await expect(process.destinations.create({ name: 'erp', urls })).rejects.toMatchObject({
      code: 'registry_read_only',
      message: `destination "erp" can be created, changed or removed only with registry: 'store'`,
    });
  });
});
