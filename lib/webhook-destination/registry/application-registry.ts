import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ModuleRef } from '@nestjs/core';
import type { Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { OptionsError } from '../../common/options.error.js';
import { toOptions } from '../../common/options.rules.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import { SourceOptions } from '../ingest/source.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type {
  DestinationRegistry,
  DestinationRegistryProvider,
  RegistryChange,
} from './destination-registry.interface.js';
import { type AnyDocument, detach, type EntryDocuments } from './entry.document.js';
import { type LiveEntries, subjectOf } from './live-entries.js';
import { type RegisteredEntry, Registry } from './registry.js';
import { resolveRegistry } from './registry.resolver.js';

/** Entries processed in one turn of the event loop. */
const PORTION = 200;

/** Registry of the sources and destinations that the application itself keeps; empty without a provider. */
export class ApplicationRegistry extends Registry {
  readonly origin = 'application';
  readonly #entries = { source: new Map<string, AnyDocument>(), destination: new Map<string, AnyDocument>() };
  readonly #provider: DestinationRegistryProvider | undefined;
  private changes: Subscription | undefined;

  constructor(entries: LiveEntries, provider: DestinationRegistryProvider | undefined) {
    super(entries);
    this.#provider = provider;
  }

  names(kind: RegistryKind): Iterable<string> {
    return this.#entries[kind].keys();
  }

  find<K extends RegistryKind>(kind: K, name: string): RegisteredEntry<K> | undefined {
    const document = this.#entries[kind].get(name) as EntryDocuments[K] | undefined;
    return document && { document, live: document };
  }

  change(kind: RegistryKind, name: string): Promise<void> {
    const rule = `${kind} "${name}" can only be changed with registry: 'store'`;
    return Promise.reject(new RelayError('registry_read_only', rule));
  }

  protected async start(moduleRef: ModuleRef): Promise<void> {
    if (!this.#provider) return;
    const registry = await resolveRegistry(this.#provider, moduleRef);
    let missed: RegistryChange[] | undefined = [];
    this.changes = registry.changes$?.subscribe({
      next: (change) => (missed ? missed.push(change) : this.take(change)),
      error: (error) =>
        this.entries.logger.error(
          `changes$ of the application's registry failed; no more changes are applied until the next start: ${errorMessage(error)}`,
        ),
    });
    await this.load(registry);
    for (const change of missed) this.take(change);
    missed = undefined;
  }

  protected stop(): void {
    this.changes?.unsubscribe();
  }

  private async load(registry: DestinationRegistry): Promise<void> {
    let loaded: Awaited<ReturnType<DestinationRegistry['load']>>;
    try {
      loaded = await registry.load();
    } catch (error) {
      const message = `load() of the application's registry failed: ${errorMessage(error)}`;
      throw new RelayError('registry_unavailable', message, { cause: error });
    }
    const lists = [
      ['source', loaded?.sources],
      ['destination', loaded?.destinations],
    ] as const;
    const faults = lists.flatMap(([kind, list]) => (Array.isArray(list) ? [] : [`${kind}s must be an array`]));
    if (faults.length > 0) throw new OptionsError("load() of the application's registry", faults);
    for (const [kind, list] of lists) {
      for (let index = 0; index < list.length; index++) {
        if (index % PORTION === PORTION - 1) await nextTurn();
        if (this.isClosed) return;
        this.put(kind, list[index], `${kind}s[${index}]`);
      }
    }
  }

  /** Never throws; an invalid change is logged. */
  private take(change: RegistryChange): void {
    if (this.isClosed) return;
    const ignore = (fault: string) =>
      this.entries.logger.limited('error', `Ignored a change from the application's registry: it ${fault}`);
    let parts: ChangePart[];
    try {
      parts = toParts(change);
    } catch (error) {
      return ignore(cannotBeRead(error));
    }
    if (parts.length === 0 || parts.some(({ kind }) => !Object.hasOwn(this.#entries, kind))) {
      return ignore('must have either put or remove, with a source, a destination or both');
    }
    for (const { kind, value, isPut } of parts) {
      if (isPut) this.put(kind, value);
      else if (this.#entries[kind].delete(value as string)) this.entries.remove(kind, value as string);
    }
  }

  /** @param place where `load()` returned the entry, whose name must be unique there */
  private put(kind: RegistryKind, given: unknown, place?: string): void {
    const isObject = typeof given === 'object' && given !== null;
    let document: AnyDocument | undefined;
    let faults: string[];
    try {
      const options = toOptions<object>(kind === 'source' ? SourceOptions : DestinationOptions, given);
      document = { options } as AnyDocument;
      faults = this.findFaults(kind, document, place);
      // The application may change its own lists and objects, unchecked.
      if (faults.length === 0) detach(document.options);
    } catch (error) {
      faults = [cannotBeRead(error)];
    }
    const name = isObject ? document?.options.name : undefined;
    if (faults.length > 0) {
      const subject = typeof name === 'string' && name !== '' ? subjectOf(kind, name) : (place ?? `A ${kind}`);
      this.entries.logger.limited('error', `${subject} of the application's registry is ignored: ${faults.join('; ')}`);
      return;
    }
    this.#entries[kind].set(name!, document!);
    this.entries.put(kind, document!);
  }

  private findFaults(kind: RegistryKind, document: AnyDocument, place: string | undefined): string[] {
    const faults = this.entries.findFaults(kind, document);
    if (faults.length > 0) return faults;
    if (place && this.#entries[kind].has(document.options.name)) {
      return [`name must differ from that of every other ${kind}`];
    }
    return [...this.entries.findConflicts(kind, document), ...this.entries.findUnknownSources(kind, document)];
  }
}

/** An entry of a change: its options, or the name of one to remove. */
interface ChangePart {
  kind: RegistryKind;
  value: unknown;
  isPut: boolean;
}

/** Returns the entries of a change, the source first, because the destination may name it; none of an invalid one. */
function toParts(change: RegistryChange): ChangePart[] {
  const { put, remove } = Object(change) as Record<'put' | 'remove', object | undefined>;
  if (put && remove) return [];
  const parts = Object.entries({ ...put, ...remove }).filter(([, value]) => value !== undefined);
  return parts
    .map(([kind, value]): ChangePart => ({ kind: kind as RegistryKind, value, isPut: Boolean(put) }))
    .sort(({ kind }) => (kind === 'source' ? -1 : 1));
}

/** Returns the fault of a value whose accessor threw an error. */
function cannotBeRead(error: unknown): string {
  return `cannot be read: ${errorMessage(error)}`;
}
