import type { ModuleRef } from '@nestjs/core';
import { BehaviorSubject } from 'rxjs';

import { toOptions } from '../../../../lib/common/options.rules.js';
import { DeliveryOptions } from '../../../../lib/webhook-destination/dispatch/delivery.options.js';
import { DestinationOptions } from '../../../../lib/webhook-destination/dispatch/destination.options.js';
import { SourceOptions } from '../../../../lib/webhook-destination/ingest/source.options.js';
import type { PausableDestination } from '../../../../lib/webhook-destination/dispatch/pause.util.js';
import { type KeyedSource, SourceRegistry } from '../../../../lib/webhook-destination/ingest/source.registry.js';
import type { DeliveryQueue } from '../../../../lib/webhook-destination/queue/delivery.queue.js';
import { MemoryRegistryStore } from '../../../../lib/stores/memory/memory-registry.store.js';
import type {
  RegistryRecord,
  RegistryStore,
} from '../../../../lib/webhook-destination/queue/registry-store.interface.js';
import type {
  GivenDestination,
  RegistryOption,
} from '../../../../lib/webhook-destination/registry/destination-registry.interface.js';
import { DestinationManager, type SendTest } from '../../../../lib/webhook-destination/registry/destination.manager.js';
import { createRegistry } from '../../../../lib/webhook-destination/registry/registry.factory.js';
import type { Registry, RelayEntries } from '../../../../lib/webhook-destination/registry/registry.js';
import { SourceManager } from '../../../../lib/webhook-destination/registry/source.manager.js';

/** What the relay's steps would use. */
export class RecordingListener {
  readonly sources = new Map<string, KeyedSource>();
  readonly destinations = new Map<string, PausableDestination>();
  /** Each call, as `put shop`. */
  readonly calls: string[] = [];

  /** The relay's entries; `sources` has those that are put beside the fixed ones. */
  relay(fixed: SourceOptions[]): RelayEntries {
    const registry = new SourceRegistry(fixed);
    const source: RelayEntries['source'] = {
      find: (writeKey) => registry.find(writeKey),
      has: (name) => registry.has(name),
      put: (source) => {
        this.calls.push(`put ${source.name}`);
        this.sources.set(source.name, source);
        registry.put(source);
      },
      remove: (name) => {
        this.calls.push(`remove ${name}`);
        this.sources.delete(name);
        registry.remove(name);
      },
    };
    const destination: RelayEntries['destination'] = {
      put: (destination) => {
        this.calls.push(`put ${destination.name}`);
        this.destinations.set(destination.name, destination);
      },
      remove: (name) => {
        this.calls.push(`remove ${name}`);
        this.destinations.delete(name);
      },
    };
    return { source, destination };
  }
}

/** A store that processes share, which may be unavailable. */
export class SharedStore {
  private readonly store = new MemoryRegistryStore();
  private readonly signals = new Set<BehaviorSubject<void>>();
  outage: Error | undefined;
  /** How often processes wrote. */
  writes = 0;
  /** Whether processes are signalled what others change. */
  isSignalling = true;

  /** The store, as one process has it. */
  connect(): RegistryStore {
    const changed$ = new BehaviorSubject<void>(undefined);
    this.signals.add(changed$);
    return {
      changed$,
      read: async (after) => {
        if (this.outage) throw this.outage;
        return this.store.read(after);
      },
      write: async (record, expected) => {
        if (this.outage) throw this.outage;
        this.writes++;
        const revision = await this.store.write(record, expected);
        if (revision !== undefined && this.isSignalling) this.signal();
        return revision;
      },
    };
  }

  signal(): void {
    for (const changed$ of this.signals) changed$.next();
  }

  async records(): Promise<RegistryRecord[]> {
    return this.store.read(0);
  }

  /** As text, as a reader of the store sees it. */
  async text(): Promise<string> {
    return JSON.stringify(await this.store.read(0));
  }
}

interface ProcessOptions {
  store?: RegistryStore;
  registry?: RegistryOption;
  secret?: string | string[];
  sources?: SourceOptions[];
  destinations?: GivenDestination[];
  delivery?: Partial<DeliveryOptions>;
  send?: SendTest;
  moduleRef?: ModuleRef;
  tenantKey?: string;
}

/** The registry of one process. */
export class RegistryProcess {
  readonly listener = new RecordingListener();
  readonly registry: Registry;
  readonly sources: SourceManager;
  readonly destinations: DestinationManager;

  constructor(private readonly options: ProcessOptions) {
    const { store, secret, sources = [], destinations = [], delivery, send, tenantKey } = options;
    const settings = {
      sources: sources.map((source) => toOptions(SourceOptions, source)),
      destinations: destinations.map((destination) => toOptions(DestinationOptions, destination)),
      delivery: toOptions(DeliveryOptions, delivery),
      registry: 'registry' in options ? options.registry : 'store',
      registrySecret: secret,
      tenantKey,
      isAdminToken: () => false,
    };
    const relay = this.listener.relay(settings.sources);
    this.registry = createRegistry(settings, { registry: store } as DeliveryQueue, relay);
    this.sources = new SourceManager(this.registry);
    const { retryWindow } = settings.delivery;
    const unsent = () => Promise.reject(new Error('nothing is sent'));
    this.destinations = new DestinationManager(this.registry, this.sources, retryWindow, send ?? unsent, () =>
      Date.now(),
    );
  }

  static async start(options: ProcessOptions): Promise<RegistryProcess> {
    const started = new RegistryProcess(options);
    await started.open();
    return started;
  }

  open(): Promise<void> {
    return this.registry.open(this.options.moduleRef as ModuleRef);
  }

  stop(): void {
    this.registry.close();
  }
}
