import { invalidOptions, type OptionsError } from '../../client/options.error.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { findOptionFaults, toOptions } from '../../common/options.rules.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import type { DestinationOptions } from '../dispatch/destination.options.js';
import { findDestinationFaults } from '../dispatch/destination.rules.js';
import type { PausableDestination } from '../dispatch/pause.util.js';
import { SourceOptions } from '../ingest/source.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import {
  type AnyDocument,
  type EntryDocuments,
  toDestinationOptions,
  toLiveDestination,
  toLiveSource,
} from './entry.document.js';
import type { SourceRegistry } from '../ingest/source.registry.js';

/** The module's options that entries must agree with. */
export interface EntrySettings {
  sources: SourceOptions[];
  destinations: DestinationOptions[];
  delivery: DeliveryOptions;
}

/** The sources that the relay accepts messages from. */
export type RelaySources = Pick<SourceRegistry, 'find' | 'has' | 'put' | 'remove'>;

/**
 * Applies changes of destinations to the relay. A `put` replaces the entry with the same name. A `remove` may name an
 * entry that was never put: at start, entries removed in the last 30 days are reported, because an earlier process may
 * have left deliveries for them.
 */
export interface DestinationListener {
  putDestination(destination: PausableDestination): void;
  removeDestination(name: string): void;
}

/** Fault of a source whose write key belongs to another source, which may release it later. */
export const KEY_TAKEN = 'writeKey must differ from that of every other source';

/** The entries that the relay uses: the fixed entries, which take precedence, and those of the registry. */
export class LiveEntries {
  readonly logger = new LimitedLogger('WebhookDestination');
  readonly #settings: EntrySettings;
  readonly #fixedNames: Record<RegistryKind, Set<string>>;
  readonly #sources: RelaySources;

  /** @param sources the relay's: at first, the fixed ones */
  constructor(
    settings: EntrySettings,
    sources: RelaySources,
    private readonly listener: DestinationListener,
  ) {
    this.#settings = settings;
    this.#sources = sources;
    const names = (entries: { name: string }[]) => new Set(entries.map(({ name }) => name));
    this.#fixedNames = { source: names(settings.sources), destination: names(settings.destinations) };
  }

  /** Returns the rules of the module's options that an entry breaks on its own, each as `path rule`. */
  findFaults(kind: RegistryKind, document: AnyDocument): string[] {
    const { options } = document;
    if (typeof options !== 'object' || options === null || Array.isArray(options)) return ['must be an object'];
    if (kind === 'source') return findOptionFaults(toOptions(SourceOptions, options));
    const destination = toDestinationOptions(document as EntryDocuments['destination']);
    const faults = findOptionFaults(destination);
    if (faults.length > 0) return faults;
    return findDestinationFaults(destination, this.#settings.delivery);
  }

  /** Returns the fault of a source whose write key belongs to another source. */
  findConflicts(kind: RegistryKind, document: AnyDocument): string[] {
    if (kind === 'destination') return [];
    const { name, writeKey, previousKey = writeKey } = toLiveSource(document as EntryDocuments['source']);
    // In an invalid document, a key may be anything.
    const keys = [writeKey, previousKey].filter((key) => typeof key === 'string');
    return keys.every((key) => (this.#sources.find(key) ?? name) === name) ? [] : [KEY_TAKEN];
  }

  /** Returns the faults of a destination that names sources that do not exist. */
  findUnknownSources(kind: RegistryKind, { options }: AnyDocument): string[] {
    if (kind === 'source') return [];
    const { sources = [] } = options as DestinationOptions;
    return sources
      .filter((name) => !this.#sources.has(name))
      .map((name) => `sources must name existing sources; "${name}" does not exist`);
  }

  /** Puts a valid entry into use. */
  put(kind: RegistryKind, document: AnyDocument): void {
    const { name } = document.options;
    if (this.#fixedNames[kind].has(name)) {
      this.logger.once(
        `${subjectOf(kind, name)} is in the module's options and in the registry: the options take precedence. Remove one of them`,
      );
    } else if (kind === 'source') {
      this.#sources.put(toLiveSource(document as EntryDocuments['source']));
    } else {
      this.listener.putDestination(toLiveDestination(document as EntryDocuments['destination']));
    }
  }

  remove(kind: RegistryKind, name: string): void {
    if (this.#fixedNames[kind].has(name)) return;
    if (kind === 'source') this.#sources.remove(name);
    else this.listener.removeDestination(name);
  }

  /** Warns of fixed destinations that name sources that do not exist. Called once all entries are loaded. */
  warnOfUnknownSources(): void {
    for (const options of this.#settings.destinations) {
      for (const fault of this.findUnknownSources('destination', { options })) {
        this.logger.once(`Destination "${options.name}": ${fault}`);
      }
    }
  }
}

/** Returns how errors and log lines name an entry. */
export function subjectOf(kind: RegistryKind, name: string): string {
  return `${kind === 'source' ? 'Source' : 'Destination'} "${name}"`;
}

/** Creates the error for an entry with faults; its `field` is that of the first. */
export function invalidEntry(kind: RegistryKind, name: string, faults: string[]): OptionsError {
  return invalidOptions(subjectOf(kind, name), faults);
}
