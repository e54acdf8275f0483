import { setImmediate as nextTurn } from 'node:timers/promises';

import { errorMessage } from '../../common/error.util.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import type { RegistryKind, RegistryRecord } from '../queue/registry-store.interface.js';
import type { EntryCodec } from './entry.codec.js';
import { type AnyDocument, withoutExpired } from './entry.document.js';
import { findEntryFaults } from './entry.rules.js';
import { KEY_TAKEN, type LiveEntries, subjectOf } from './live.entries.js';
import type { RegisteredEntry } from './registry.js';

/** Records taken in one turn of the event loop. */
const PORTION = 200;

export interface StoredEntry extends RegisteredEntry {
  kind: RegistryKind;
  name: string;
  revision: number;
  /** What is in use: the document, unless that is at fault. */
  live?: AnyDocument;
}

/** The entries of a store as this process last read them, and what of them is in use. */
export class StoredEntries {
  readonly #entries = { source: new Map<string, StoredEntry>(), destination: new Map<string, StoredEntry>() };
  readonly #stale = new Set<StoredEntry>();
  /** Those with a secret or key from before a rotation. */
  readonly #rotating = new Set<StoredEntry>();
  /** Sources whose write key another one has, which may give it up. */
  readonly #conflicts = new Set<StoredEntry>();
  readonly #delivery: DeliveryOptions;

  constructor(
    private readonly inUse: LiveEntries,
    private readonly codec: EntryCodec,
    delivery: DeliveryOptions,
  ) {
    this.#delivery = delivery;
  }

  /** Those that the store should have in another form: without a secret that has expired, or under today's key. */
  get stale(): Set<StoredEntry> {
    return this.#stale;
  }

  names(kind: RegistryKind): Iterable<string> {
    return this.#entries[kind].keys();
  }

  find(kind: RegistryKind, name: string): StoredEntry | undefined {
    return this.#entries[kind].get(name);
  }

  /**
   * Puts records into use. One that is at fault leaves in use what was.
   *
   * @param isOpening Only then an old key makes an entry stale: two processes with the same secrets in another order would
   * rewrite each other's for ever.
   */
  async apply(records: RegistryRecord[], isOpening: boolean): Promise<void> {
    const taken: StoredEntry[] = [];
    for (let index = 0; index < records.length; index++) {
      if (index % PORTION === PORTION - 1) await nextTurn();
      const record = records[index]!;
      const known = this.#entries[record.kind].get(record.name);
      if (known && known.revision >= record.revision) continue;
      if (known) this.forget(known);
      if (record.document !== undefined) taken.push(this.take(record, record.document, known?.live, isOpening));
      else this.inUse.remove(record.kind, record.name);
    }
    this.retryConflicts();
    for (const { kind, name, fault, live } of taken) {
      if (fault === undefined) continue;
      const effect = live ? 'keeps its last valid form' : 'is not used';
      this.inUse.logger.limited('error', `${subjectOf(kind, name)} of the registry ${effect}: ${fault}`);
    }
  }

  /** Ends the rotations whose time has come, in use; {@link stale} has what is to be written. */
  expire(now: number): void {
    for (const entry of this.#rotating) {
      const { kind, document, live } = entry;
      entry.document = document && withoutExpired(document, now);
      entry.live = live === document ? entry.document : live && withoutExpired(live, now);
      if (entry.document !== document) this.#stale.add(entry);
      if (entry.live && entry.live !== live) this.inUse.put(kind, entry.live);
      if (!entry.document?.previous && !entry.live?.previous) this.#rotating.delete(entry);
    }
    this.retryConflicts();
  }

  /** When the next rotation ends, in ms since the epoch. */
  nextExpiry(): number {
    const ends = [...this.#rotating].flatMap(({ document, live }) => [document?.previous, live?.previous]);
    return ends.reduce((next, previous) => Math.min(next, previous?.until ?? Infinity), Infinity);
  }

  private forget(entry: StoredEntry): void {
    this.#entries[entry.kind].delete(entry.name);
    this.#stale.delete(entry);
    this.#rotating.delete(entry);
    this.#conflicts.delete(entry);
  }

  private take(
    { kind, name, revision }: RegistryRecord,
    text: string,
    live: AnyDocument | undefined,
    isOpening: boolean,
  ): StoredEntry {
    const entry: StoredEntry = { kind, name, revision, live };
    this.#entries[kind].set(name, entry);
    try {
      const stored = this.codec.decode(kind, name, text);
      entry.document = withoutExpired(stored, Date.now());
      if (entry.document !== stored || (isOpening && !this.codec.isCurrent(text, stored))) this.#stale.add(entry);
      this.use(entry, this.codec.isChecked(stored) ? [] : findEntryFaults(kind, stored, this.#delivery));
    } catch (error) {
      entry.fault = errorMessage(error);
    }
    if (entry.document?.previous || live?.previous) this.#rotating.add(entry);
    return entry;
  }

  private use(entry: StoredEntry, faults: string[] = []): void {
    const { kind, live } = entry;
    const document = entry.document!;
    entry.fault = [...faults, ...this.inUse.findConflicts(kind, document)][0];
    if (entry.fault === KEY_TAKEN) this.#conflicts.add(entry);
    if (entry.fault !== undefined) return;
    this.#conflicts.delete(entry);
    if (!live || essence(live) !== essence(document)) this.inUse.put(kind, document);
    entry.live = document;
  }

  private retryConflicts(): void {
    for (let count = Infinity; this.#conflicts.size > 0 && this.#conflicts.size < count;) {
      count = this.#conflicts.size;
      for (const entry of this.#conflicts) this.use(entry);
    }
  }
}

/** What the relay's steps see of an entry. */
function essence({ options, previous, pauses }: AnyDocument): string {
  return JSON.stringify([options, previous, pauses]);
}
