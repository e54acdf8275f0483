import type { ModuleRef } from '@nestjs/core';

import { LimitedLogger } from '../../common/limited.logger.js';
import { findOptionFaults, toOptions, validOptions } from '../../common/options.rules.js';
import { deferred } from '../../common/promise.util.js';
import { ClosedError } from '../../common/relay.errors.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import type { DestinationOptions } from '../dispatch/destination.options.js';
import { findDestinationFaults } from '../dispatch/destination.rules.js';
import type { PausableDestination } from '../dispatch/pause.util.js';
import { SourceOptions } from '../ingest/source.options.js';
import type { SourceRegistry } from '../ingest/source.registry.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type { RegistryOption } from './destination-registry.interface.js';
import {
  type AnyDocument,
  type EntryDocuments,
  invalidEntry,
  sourcesOf,
  subjectOf,
  toDestinationOptions,
  toLiveDestination,
  toLiveSource,
} from './entry.document.js';
import type { EntryOrigin } from './registry-entry.interface.js';
import { Tenants } from './tenants.js';

/** A source or destination, as this process has it. */
export interface RegistryEntry<K extends RegistryKind = RegistryKind> {
  kind: K;
  name: string;
  origin: EntryOrigin;
  /** Absent if it cannot be read. */
  document?: EntryDocuments[K] | undefined;
  /** Why this process ignores the entry, or keeps its last valid form. */
  fault?: string | undefined;
  /** The document in use; the last valid one if `document` is invalid, absent if there is none. */
  live?: EntryDocuments[K] | undefined;
  /** Entries of the store only: the revision of the document. */
  revision?: number;
  /** Whether to store it again: without an expired secret, or encrypted with the current key. */
  isStale?: boolean;
}

/** Returns the new document of an entry; null removes the entry, undefined leaves it unchanged. */
export type EntryChange<K extends RegistryKind> = (
  current: RegistryEntry<K> | undefined,
) => EntryDocuments[K] | null | undefined;

const WITHOUT_PORTAL =
  'Endpoints that tenants added get no messages in this process: it lacks the option portal of the others';

/** The module's options that concern the registry, and those that entries must agree with. */
export interface RegistrySettings {
  sources: SourceOptions[];
  destinations: DestinationOptions[];
  delivery: DeliveryOptions;
  registry?: RegistryOption;
  registrySecret?: string | string[];
  /** Name of the tenant in the metadata of entries; only with the option `portal`. */
  tenantKey?: string | undefined;
  /** Whether a write key is also a token of the admin API. */
  isAdminToken(key: string): boolean;
}

/**
 * What the relay uses: at first, the fixed entries. A `put` replaces the entry with the same name. A `remove` may name
 * an entry that was never put: at start, entries removed in the last 30 days are reported, because an earlier process
 * may have left deliveries for them.
 */
export interface RelayEntries {
  readonly source: Pick<SourceRegistry, 'find' | 'has' | 'put' | 'remove'>;
  readonly destination: { put(destination: PausableDestination): void; remove(name: string): void };
}

type Entries = { [K in RegistryKind]: Map<string, RegistryEntry<K>> };

/** Fault of a source whose write key belongs to another source, which may release it later. */
export const KEY_TAKEN = 'writeKey must differ from that of every other source';

/** Rule for the write keys of sources, also of fixed ones. */
export const KEY_IS_TOKEN = 'writeKey must differ from the admin tokens, because SDKs disclose it';

/**
 * The sources and destinations that the relay uses: the fixed ones of the module's options, and those of the queue's
 * store or of the application, which change at run time. Fixed entries take precedence over others with the same name.
 *
 * Until `open` resolves, only the fixed entries are in use, and `ready` and every change wait. While it is open, what
 * changes is put into use. After `close`, nothing changes any more.
 */
export abstract class Registry {
  abstract readonly origin: EntryOrigin;
  /** Called when entries are needed, possibly before {@link open}. */
  onNeeded: () => void = () => undefined;
  protected readonly logger = new LimitedLogger('WebhookDestination');
  protected isClosed = false;
  private readonly opening = deferred<void>();
  protected readonly opened = this.opening.promise;
  readonly #fixed: Entries;
  readonly #entries: Entries = { source: new Map(), destination: new Map() };
  readonly #settings: RegistrySettings;
  readonly #relay: RelayEntries;
  /** The entries of each tenant; fixed destinations belong to none. */
  readonly tenants: Tenants;
  /** Tenants with sources that their endpoints do not know yet. */
  readonly #changedTenants = new Set<string>();

  constructor(settings: RegistrySettings, relay: RelayEntries) {
    this.#settings = settings;
    this.#relay = relay;
    this.#fixed = {
      source: fixedEntries('source', settings.sources),
      destination: fixedEntries('destination', settings.destinations),
    };
    this.tenants = new Tenants(settings.tenantKey);
    for (const source of settings.sources) this.tenants.put('source', source.name, source);
  }

  /** Resolves once all entries are in use. */
  ready(): Promise<void> {
    this.onNeeded();
    return this.opened;
  }

  /** Puts all entries into use, and follows their changes from now on. */
  open(moduleRef: ModuleRef): Promise<void> {
    this.opening.resolve(this.start(moduleRef).then(() => this.warnOfUnknownSources()));
    return this.opened;
  }

  /** Stops following changes. */
  close(): void {
    this.isClosed = true;
    this.opening.reject(new ClosedError('the application closed before its registry was open'));
    this.stop();
    this.logger.end();
  }

  fixed<K extends RegistryKind>(kind: K): ReadonlyMap<string, RegistryEntry<K>> {
    return this.#fixed[kind];
  }

  /**
   * Returns the names of entries that may have this metadata, sorted: those of the tenant that it names, or else all.
   * Fixed destinations belong to no tenant.
   */
  namesWith(kind: RegistryKind, metadata: Record<string, string>): string[] {
    const tenant = this.tenants.of({ metadata });
    if (tenant === undefined) return this.names(kind);
    const own = this.tenants.find(kind, tenant);
    return kind === 'source' ? own : [...new Set([...own, ...this.#fixed.destination.keys()])].sort();
  }

  /** Returns a destination as the relay uses it: one that its tenant added has the present sources of the tenant. */
  toLive(document: EntryDocuments['destination']): PausableDestination {
    const live = toLiveDestination(document);
    live.tenant = this.tenants.of(document.options);
    live.sources = this.presentSources(document) ?? live.sources;
    return live;
  }

  /**
   * Returns the sources of a destination that its tenant added, none where the tenant is not known; undefined for any
   * other destination, which declares its own.
   */
  presentSources(document: EntryDocuments['destination']): string[] | undefined {
    if (!document.followsTenant) return undefined;
    const tenant = this.tenants.of(document.options);
    return tenant === undefined ? [] : this.tenants.find('source', tenant);
  }

  /** Returns the names of all entries, sorted. */
  names(kind: RegistryKind): string[] {
    return [...new Set([...this.#fixed[kind].keys(), ...this.#entries[kind].keys()])].sort();
  }

  find<K extends RegistryKind>(kind: K, name: string): RegistryEntry<K> | undefined {
    return this.#fixed[kind].get(name) ?? this.held(kind, name);
  }

  /**
   * Changes an entry based on its current document. Resolves once the change is durable and in use in this process.
   *
   * @throws {OptionsError} naming each invalid field and its rule; nothing has changed then
   * @throws {RelayError} `registry_read_only` if the application keeps the entries
   */
  abstract change<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void>;

  protected abstract start(moduleRef: ModuleRef): Promise<void>;

  protected abstract stop(): void;

  /** Returns an entry that is not fixed, whether or not there is a fixed one with its name. */
  protected held<K extends RegistryKind>(kind: K, name: string): RegistryEntry<K> | undefined {
    return this.#entries[kind].get(name);
  }

  /** Returns all entries that are not fixed. */
  protected all(): RegistryEntry[] {
    return [...this.#entries.source.values(), ...this.#entries.destination.values()];
  }

  protected hold(entry: RegistryEntry): void {
    (this.#entries[entry.kind] as Map<string, RegistryEntry>).set(entry.name, entry);
  }

  /** Removes an entry, and ends its use. */
  protected drop(kind: RegistryKind, name: string): void {
    this.#entries[kind].delete(name);
    if (this.#fixed[kind].has(name)) return;
    this.#relay[kind].remove(name);
    this.index(kind, name, undefined);
  }

  /** Indexes an entry by its tenant. If it is a source, {@link useSources} must follow before other code runs. */
  protected index(kind: RegistryKind, name: string, options: object | undefined): void {
    if (this.#fixed[kind].has(name)) return;
    const changed = this.tenants.put(kind, name, options);
    if (kind === 'source') for (const tenant of changed) this.#changedTenants.add(tenant);
  }

  /** Gives endpoints the present sources of their tenants, once for all sources that changed. */
  protected useSources(): void {
    for (const tenant of this.#changedTenants) {
      for (const endpoint of this.tenants.find('destination', tenant)) {
        const live = this.held('destination', endpoint)?.live;
        if (live?.followsTenant) this.use('destination', live);
      }
    }
    this.#changedTenants.clear();
  }

  /** Puts a valid document into use. */
  protected use(kind: RegistryKind, document: AnyDocument): void {
    const { name } = document.options;
    if (this.#fixed[kind].has(name)) {
      this.logger.once(
        `${subjectOf(kind, name)} is in the module's options and in the registry: the options take precedence. Remove one of them`,
      );
    } else if (kind === 'source') {
      this.#relay.source.put(toLiveSource(document as EntryDocuments['source']));
    } else {
      const destination = document as EntryDocuments['destination'];
      if (destination.followsTenant && this.tenants.key === undefined) this.logger.once(WITHOUT_PORTAL);
      this.#relay.destination.put(this.toLive(destination));
    }
  }

  /**
   * @param current the document that `next` replaces
   * @throws {OptionsError}
   */
  protected check(kind: RegistryKind, next: AnyDocument, current: AnyDocument | undefined): void {
    const faults = [...this.findFaults(kind, next), ...this.findConflicts(kind, next)];
    // A source that no longer exists must not block other changes to its destinations.
    const isNew = sourcesOf(next) !== (current && sourcesOf(current));
    if (isNew && validOptions(faults)('sources')) faults.push(...this.findUnknownSources(kind, next));
    if (faults.length > 0) throw invalidEntry(kind, next.options.name, faults);
  }

  /** Returns the rules of the module's options that an entry breaks on its own, each as `path rule`. */
  protected findFaults(kind: RegistryKind, document: AnyDocument): string[] {
    const { options } = document;
    if (typeof options !== 'object' || options === null || Array.isArray(options)) return ['must be an object'];
    if (kind === 'source') {
      const faults = findOptionFaults(toOptions(SourceOptions, options));
      return [...faults, ...this.findKeyFaults(document as EntryDocuments['source'])];
    }
    const destination = toDestinationOptions(document as EntryDocuments['destination']);
    const faults = findOptionFaults(destination);
    return [...faults, ...findDestinationFaults(destination, this.#settings.delivery, validOptions(faults))];
  }

  private findKeyFaults(document: EntryDocuments['source']): string[] {
    const { writeKey, previousKey = writeKey } = toLiveSource(document);
    return [writeKey, previousKey].some((key) => this.#settings.isAdminToken(key)) ? [KEY_IS_TOKEN] : [];
  }

  /** Returns the fault of a source whose write key belongs to another source. */
  protected findConflicts(kind: RegistryKind, document: AnyDocument): string[] {
    if (kind === 'destination') return [];
    const { name, writeKey, previousKey = writeKey } = toLiveSource(document as EntryDocuments['source']);
    // In an invalid document, a key may be anything.
    const keys = [writeKey, previousKey].filter((key) => typeof key === 'string');
    return keys.every((key) => (this.#relay.source.find(key) ?? name) === name) ? [] : [KEY_TAKEN];
  }

  /** Returns the faults of a destination that names sources that do not exist. */
  protected findUnknownSources(kind: RegistryKind, document: AnyDocument): string[] {
    if (kind === 'source') return [];
    return (sourcesOf(document) ?? [])
      .filter((name) => !this.#relay.source.has(name))
      .map((name) => `sources must name existing sources; "${name}" does not exist`);
  }

  private warnOfUnknownSources(): void {
    for (const options of this.#settings.destinations) {
      for (const fault of this.findUnknownSources('destination', { options })) {
        this.logger.once(`Destination "${options.name}": ${fault}`);
      }
    }
  }
}

function fixedEntries<K extends RegistryKind>(
  kind: K,
  all: EntryDocuments[K]['options'][],
): Map<string, RegistryEntry<K>> {
  return new Map(
    all.map((options) => {
      const document = { options } as EntryDocuments[K];
      return [options.name, { kind, name: options.name, origin: 'fixed', document, live: document }];
    }),
  );
}
