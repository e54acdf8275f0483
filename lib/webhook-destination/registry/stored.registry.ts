import { setImmediate as nextTurn } from 'node:timers/promises';

import { errorMessage } from '../../client/error.util.js';
import { delayUntil } from '../../client/timer.limits.js';
import { ClosedError, FieldError } from '../../common/relay.errors.js';
import type { RegistryKind, RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';
import type { DocumentCodec } from './document.codec.js';
import { type AnyDocument, essenceOf, invalidEntry, subjectOf, withoutExpired, withStateOf } from './entry.document.js';
import { type EntryChange, KEY_TAKEN, Registry, type RegistryEntry } from './registry.js';
import { StoreFollower } from './store.follower.js';

/** Records processed in one turn of the event loop. */
const PORTION = 200;

/** Delay before a failed rewrite is repeated, in ms. */
const REWRITE_DELAY = 30_000;

/** Maximum number of attempts at a change that changes of other processes overtake. */
const MAX_TRIES = 20;

const KINDS: readonly RegistryKind[] = ['source', 'destination'];

const CHANGES_LOST =
  'The store has lost changes of the registry, as after a failover or the restore of a backup; the entries it has now are in use';

/**
 * Registry whose truth is the queue's store; each process has a copy, which {@link StoreFollower} keeps up to date.
 *
 * A change is written to the store first, provided the entry still has the revision that was read, and is in use here
 * before its promise resolves. Other processes apply it at the signal of the store, or within 5 s without one. While
 * the store is unavailable, the last known entries stay in use, and changes fail with its error. If the store has lost
 * changes, its entries replace those of this process.
 *
 * An entry of the store is
 * - valid: its document is in use;
 * - invalid here, by rules that another process may not have, or unreadable: its last valid document stays in use with
 *   the new pauses and state, if there is one;
 * - in conflict: another source has its write key; it becomes valid once that source releases the key;
 * - rotating: the previous secret is valid until it expires, first here, then in the store, which is rewritten.
 */
export class StoredRegistry extends Registry {
  readonly origin = 'store';
  private readonly follower: StoreFollower<RegistryKind>;
  private codec!: DocumentCodec;
  private isOpening = true;
  private isRewriting = false;
  /** Entries that are in conflict, rotating or stale. */
  readonly #unsettled = new Set<RegistryEntry>();
  /** Checked documents of this process's changes in progress, by the text that the store returns. */
  readonly #written = new Map<string | undefined, Pick<RegistryEntry, 'document' | 'fault'>>();
  /** The last change in progress of each entry. */
  private readonly changing = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: RegistryStore,
    private readonly createCodec: () => Promise<DocumentCodec>,
    ...relay: ConstructorParameters<typeof Registry>
  ) {
    super(...relay);
    const apply = (records: RegistryRecord<RegistryKind>[], areAll: boolean) => this.apply(records, areAll);
    this.follower = new StoreFollower(store, KINDS, 'The registry', apply);
  }

  async change<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void> {
    await this.opened;
    const key = keyOf({ kind, name });
    const changed = Promise.resolve(this.changing.get(key)).then(() => this.changeEntry(kind, name, change));
    const ended = changed
      .catch(() => undefined)
      .finally(() => this.changing.get(key) === ended && this.changing.delete(key));
    this.changing.set(key, ended);
    return changed;
  }

  protected async start(): Promise<void> {
    this.codec = await this.createCodec();
    await this.follower.start();
    this.isOpening = false;
    void this.rewrite();
  }

  protected stop(): void {
    this.follower.stop();
    clearTimeout(this.timer);
  }

  private async changeEntry<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void> {
    let tried: number | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.isClosed) throw new ClosedError('the registry is closed');
      await this.follower.catchUp();
      // The store has another revision, but no newer one: it has lost changes.
      if (tries > 0 && this.held(kind, name)?.revision === tried) await this.follower.reload();
      const current = this.held(kind, name);
      const { document, fault, revision } = current ?? {};
      tried = revision;
      const next = change(current);
      if (next === undefined) return;
      // Options that only another process accepts must not prevent a pause.
      const keepsFault = fault !== undefined && next !== null && next.options === document?.options;
      if (next && !keepsFault) this.check(kind, next, document);
      const written = await this.write(kind, name, next ?? undefined, revision, keepsFault ? fault : undefined);
      if (written === undefined) continue;
      const entry = this.held(kind, name);
      if (entry?.revision !== written || entry.fault === undefined || keepsFault) return;
      // Another process gave the write key to another source first.
      await this.write(kind, name, document, written, fault);
      throw invalidEntry(kind, name, [entry.fault]);
    }
    const rule = `${kind} "${name}" was changed concurrently ${MAX_TRIES} times; try again`;
    throw new FieldError('registry_conflict', rule, 'name');
  }

  /** Resolves with the new revision once the document is in use; with undefined if the entry was changed meanwhile. */
  private async write(
    kind: RegistryKind,
    name: string,
    document: AnyDocument | undefined,
    expected = 0,
    fault?: string,
  ): Promise<number | undefined> {
    const text = document && this.codec.encode(kind, document);
    // A copy, because the caller may change its lists and objects.
    if (document) this.#written.set(text, { document: structuredClone(document), fault });
    try {
      const record = { kind, name, document: text };
      const revision = await this.store.write(record, expected);
      if (revision !== undefined) await this.follower.applied({ ...record, revision });
      return revision;
    } finally {
      this.#written.delete(text);
    }
  }

  /** @param areAll whether they are all that the store has: others are removed, and earlier revisions count, too */
  private async apply(records: RegistryRecord<RegistryKind>[], areAll: boolean): Promise<void> {
    if (this.isClosed) return;
    const present = new Set(records.map(keyOf));
    const lost = areAll ? this.all().filter((entry) => !present.has(keyOf(entry))) : [];
    for (const entry of lost) {
      this.#unsettled.delete(entry);
      this.drop(entry.kind, entry.name);
    }
    if (records.length === 0 && lost.length === 0) return;
    let isEarlier = lost.length > 0;
    const taken: RegistryEntry[] = [];
    for (let index = 0; index < records.length; index++) {
      if (index % PORTION === PORTION - 1) {
        if (!this.isOpening) this.useSources(); // no message may find a source that its tenant's endpoints lack
        await nextTurn();
      }
      const record = records[index]!;
      const known = this.held(record.kind, record.name);
      if (known && (areAll ? known.revision === record.revision : known.revision! >= record.revision)) continue;
      isEarlier ||= known !== undefined && known.revision! > record.revision;
      if (known) this.#unsettled.delete(known);
      if (record.document === undefined) this.drop(record.kind, record.name);
      else taken.push(this.take(record, record.document, known?.live));
    }
    this.proceed();
    if (isEarlier) this.logger.warn(CHANGES_LOST);
    for (const { kind, name, fault, live } of taken) {
      if (fault === undefined) continue;
      const effect = live ? 'is invalid, and its last valid version stays in use' : 'is invalid and not used';
      this.logger.limited('error', `${subjectOf(kind, name)} of the registry ${effect}: ${fault}`);
    }
  }

  private take(
    { kind, name, revision }: RegistryRecord<RegistryKind>,
    text: string,
    live: AnyDocument | undefined,
  ): RegistryEntry {
    const entry: RegistryEntry = { kind, name, revision, origin: 'store', live };
    this.hold(entry);
    try {
      const own = this.#written.get(text);
      entry.document = own?.document ?? this.codec.decode(kind, name, text);
      // Only at start: otherwise, two processes with the same secrets in another order would rewrite each other's
      // entries forever.
      entry.isStale = this.isOpening && !this.codec.isCurrent(text);
      entry.fault = own ? own.fault : this.findFaults(kind, entry.document)[0];
    } catch (error) {
      entry.fault = errorMessage(error);
    }
    this.settle(entry);
    return entry;
  }

  /** Puts an entry into use as far as its faults, its write key and the time allow. */
  private settle(entry: RegistryEntry): void {
    const { kind, document, live } = entry;
    const now = Date.now();
    const current = document && withoutExpired(document, now);
    if (current !== document) entry.isStale = true;
    entry.document = current;
    const isBroken = entry.fault !== undefined && entry.fault !== KEY_TAKEN;
    if (current && !isBroken) [entry.fault] = this.findConflicts(kind, current);
    // A pause holds for the last valid document too, and so does the state of an endpoint.
    const last = live && withoutExpired(current ? withStateOf(current, live) : live, now);
    entry.live = entry.fault === undefined ? current : last;
    this.index(kind, entry.name, (entry.live ?? current)?.options);
    if (entry.live && (!live || essenceOf(live) !== essenceOf(entry.live))) this.use(kind, entry.live);
    const isSettled = !entry.isStale && entry.fault !== KEY_TAKEN && !current?.previous && !entry.live?.previous;
    if (isSettled) this.#unsettled.delete(entry);
    else this.#unsettled.add(entry);
  }

  /** Repeats itself, because each source that becomes valid may release a key. */
  private settleConflicts(): void {
    const conflicts = [...this.#unsettled].filter(({ fault }) => fault === KEY_TAKEN);
    for (const entry of conflicts) this.settle(entry);
    if (conflicts.some(({ fault }) => fault !== KEY_TAKEN)) this.settleConflicts();
  }

  /** Settles what the latest changes allow, and rewrites what is stale. */
  private proceed(): void {
    this.settleConflicts();
    this.useSources();
    this.awaitExpiry();
    if (!this.isOpening) void this.rewrite();
  }

  /** Waits for the next rotation to end, or until `latest`. */
  private awaitExpiry(latest = Infinity): void {
    const ends = [...this.#unsettled].flatMap(({ document, live }) => [document?.previous, live?.previous]);
    const end = ends.reduce((next, previous) => Math.min(next, previous?.until ?? Infinity), latest);
    clearTimeout(this.timer);
    if (end === Infinity || this.isClosed) return;
    const wake = () => {
      for (const entry of this.#unsettled) this.settle(entry);
      this.proceed();
    };
    this.timer = setTimeout(wake, delayUntil(end, Date.now())).unref();
  }

  /** Rewrites stale entries, unless another process already has. Never rejects. */
  private async rewrite(): Promise<void> {
    if (this.isRewriting) return;
    this.isRewriting = true;
    try {
      for (const { kind, name, isStale } of this.#unsettled) {
        if (!isStale || this.isClosed) continue;
        await this.change(kind, name, (entry) => (entry?.isStale ? { ...entry.document! } : undefined));
      }
    } catch (error) {
      if (this.isClosed) return;
      this.logger.limited('warn', `The registry cannot be written: ${errorMessage(error)}`);
      this.awaitExpiry(Date.now() + REWRITE_DELAY);
    } finally {
      this.isRewriting = false;
    }
  }
}

function keyOf({ kind, name }: { kind: RegistryKind; name: string }): string {
  return `${kind} ${name}`;
}
