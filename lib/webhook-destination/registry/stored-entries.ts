import { setImmediate as nextTurn } from 'node:timers/promises';

import { errorMessage } from '../../client/error.util.js';
import type { RegistryKind, RegistryRecord } from '../queue/registry-store.interface.js';
import type { EntryCodec } from './entry.codec.js';
import { type AnyDocument, withoutExpired } from './entry.document.js';
import { KEY_TAKEN, type LiveEntries, subjectOf } from './live-entries.js';
import type { RegisteredEntry } from './registry.js';

/** Records processed in one turn of the event loop. */
const PORTION = 200;

const CHANGES_LOST =
  'The store has lost changes of the registry, as after a failover or the restore of a backup; the entries it has now are in use';

export interface StoredEntry extends RegisteredEntry {
  kind: RegistryKind;
  name: string;
  revision: number;
}

/** The entries of a store as this process last read them, with the documents in use. */
export class StoredEntries {
  readonly #entries = { source: new Map<string, StoredEntry>(), destination: new Map<string, StoredEntry>() };
  readonly #stale = new Set<StoredEntry>();
  /** Entries whose previous secret or key is still valid. */
  readonly #rotating = new Set<StoredEntry>();
  /** Sources whose write key belongs to another source, which may release it. */
  readonly #conflicts = new Set<StoredEntry>();

  constructor(
    private readonly inUse: LiveEntries,
    private readonly codec: EntryCodec,
  ) {}

  /** Entries to store in another form: without an expired secret, or encoded with the current key and rules. */
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
   * Puts records into use. If a record is invalid, the previous document stays in use.
   *
   * @param areAll Whether they are all that the store has: other entries are removed, and earlier revisions count, too.
   * @param isOpening Only at start does an old key make an entry stale: otherwise, two processes with the same secrets
   * in another order would rewrite each other's entries forever.
   */
  async apply(records: RegistryRecord[], areAll: boolean, isOpening: boolean): Promise<void> {
    let isEarlier = areAll && this.removeOthers(records);
    const taken: StoredEntry[] = [];
    for (let index = 0; index < records.length; index++) {
      if (index % PORTION === PORTION - 1) await nextTurn();
      const record = records[index]!;
      const known = this.#entries[record.kind].get(record.name);
      if (known && (areAll ? known.revision === record.revision : known.revision >= record.revision)) continue;
      isEarlier ||= known !== undefined && known.revision > record.revision;
      if (known) this.forget(known);
      if (record.document !== undefined) taken.push(this.take(record, record.document, known?.live, isOpening));
      else this.inUse.remove(record.kind, record.name);
    }
    this.retryConflicts();
    if (isEarlier) this.inUse.logger.warn(CHANGES_LOST);
    for (const { kind, name, fault, live } of taken) {
      if (fault === undefined) continue;
      const effect = live ? 'is invalid, and its last valid version stays in use' : 'is invalid and not used';
      this.inUse.logger.limited('error', `${subjectOf(kind, name)} of the registry ${effect}: ${fault}`);
    }
  }

  /** Ends expired rotations in this process; {@link stale} has the entries to write. */
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

  /** Removes all other entries; returns whether there were any. */
  private removeOthers(records: RegistryRecord[]): boolean {
    let isAny = false;
    for (const kind of ['source', 'destination'] as const) {
      const names = new Set(records.filter((record) => record.kind === kind).map(({ name }) => name));
      for (const entry of this.#entries[kind].values()) {
        if (names.has(entry.name)) continue;
        this.forget(entry);
        this.inUse.remove(kind, entry.name);
        isAny = true;
      }
    }
    return isAny;
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
      this.use(entry, this.codec.isChecked(stored) ? [] : this.inUse.findFaults(kind, stored));
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
    else this.#conflicts.delete(entry);
    // A pause holds for the last valid document too.
    const next = entry.fault === undefined ? document : live && { ...live, pauses: document.pauses };
    if (!next) return;
    if (!live || essence(live) !== essence(next)) this.inUse.put(kind, next);
    entry.live = next;
  }

  private retryConflicts(): void {
    for (let count = Infinity; this.#conflicts.size > 0 && this.#conflicts.size < count;) {
      count = this.#conflicts.size;
      for (const entry of this.#conflicts) this.use(entry);
    }
  }
}

/** Returns the parts of an entry that the relay uses, for comparison. */
function essence({ options, previous, pauses }: AnyDocument): string {
  return JSON.stringify([options, previous, pauses]);
}
