import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { delayUntil } from '../../client/timer.limits.js';
import { ClosedError } from '../../common/relay.errors.js';
import type { RegistryKind, RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';
import type { EntryCodec } from './entry.codec.js';
import type { AnyDocument, EntryDocuments } from './entry.document.js';
import { invalidEntry, type LiveEntries } from './live-entries.js';
import { type EntryChange, type RegisteredEntry, Registry } from './registry.js';
import { StoreFollower } from './store.follower.js';
import { StoredEntries, type StoredEntry } from './stored-entries.js';

/** Delay before a failed rewrite is repeated, in ms. */
const REWRITE_DELAY = 30_000;

/** Maximum number of attempts at a change that changes of other processes overtake. */
const MAX_TRIES = 20;

/** Registry of the sources and destinations that the queue's store keeps. */
export class StoredRegistry extends Registry {
  readonly origin = 'store';
  private readonly follower: StoreFollower;
  private codec!: EntryCodec;
  private stored: StoredEntries | undefined;
  private isOpening = true;
  private isRewriting = false;
  /** The last change in progress of each entry. */
  private readonly changing = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private wakesAt = Infinity;

  constructor(
    private readonly store: RegistryStore,
    entries: LiveEntries,
    private readonly createCodec: () => Promise<EntryCodec>,
  ) {
    super(entries);
    this.follower = new StoreFollower(store, (records, areAll) => this.apply(records, areAll));
  }

  names(kind: RegistryKind): Iterable<string> {
    return this.stored!.names(kind);
  }

  find<K extends RegistryKind>(kind: K, name: string): RegisteredEntry<K> | undefined {
    return this.stored!.find(kind, name) as RegisteredEntry<K> | undefined;
  }

  async change<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void> {
    await this.opened;
    await this.inTurn(kind, name, () => this.changeEntry(kind, name, change));
  }

  protected async start(): Promise<void> {
    this.codec = await this.createCodec();
    this.stored = new StoredEntries(this.entries, this.codec);
    await this.follower.start();
    this.isOpening = false;
    void this.rewrite();
  }

  protected stop(): void {
    this.follower.stop();
    clearTimeout(this.timer);
  }

  /** Runs a change of an entry after the earlier ones of this process. */
  private async inTurn(kind: RegistryKind, name: string, change: () => Promise<void>): Promise<void> {
    const key = `${kind} ${name}`;
    const changed = (this.changing.get(key) ?? Promise.resolve()).then(change);
    const ended = changed.catch(() => undefined);
    this.changing.set(key, ended);
    await ended;
    if (this.changing.get(key) === ended) this.changing.delete(key);
    return changed;
  }

  private async changeEntry<K extends RegistryKind>(kind: K, name: string, change: EntryChange<K>): Promise<void> {
    let tried: number | undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.isClosed) throw new ClosedError('the registry is closed');
      await this.follower.catchUp();
      // The store has another revision, but no newer one: it has lost changes.
      if (tries > 0 && this.stored!.find(kind, name)?.revision === tried) await this.follower.reload();
      const { document, fault, revision } = this.stored!.find(kind, name) ?? {};
      tried = revision;
      const next = change(this.find(kind, name));
      if (next === undefined) return;
      // Options that only another process accepts must not prevent a pause.
      const keepsFault = fault !== undefined && next !== null && next.options === document?.options;
      if (next && !keepsFault) this.check(kind, next, document);
      const written = await this.write(kind, name, next ?? undefined, revision, !keepsFault);
      if (written === undefined) continue;
      const entry = this.stored!.find(kind, name);
      if (entry?.revision !== written || entry.fault === undefined || keepsFault) return;
      // Another process gave the write key to another source first.
      await this.write(kind, name, document, written);
      throw invalidEntry(kind, name, [entry.fault]);
    }
    throw new RelayError(
      'registry_conflict',
      `${kind} "${name}" was changed concurrently ${MAX_TRIES} times; try again`,
    );
  }

  /** @throws {OptionsError} */
  private check(kind: RegistryKind, next: AnyDocument, current: AnyDocument | undefined): void {
    const faults = [...this.entries.findFaults(kind, next), ...this.entries.findConflicts(kind, next)];
    // A source that no longer exists must not block other changes to its destinations.
    const isNew = sourcesOf(next) !== (current && sourcesOf(current));
    if (faults.length === 0 && isNew) faults.push(...this.entries.findUnknownSources(kind, next));
    if (faults.length > 0) throw invalidEntry(kind, next.options.name, faults);
  }

  /**
   * Resolves with the new revision once the document is in use; with undefined if the entry was changed meanwhile.
   * @param isValid whether the document passes the rules of this process
   */
  private async write(
    kind: RegistryKind,
    name: string,
    document: AnyDocument | undefined,
    expected = 0,
    isValid = true,
  ): Promise<number | undefined> {
    const record = { kind, name, document: document && this.codec.encode(kind, document, isValid) };
    const revision = await this.store.write(record, expected);
    if (revision !== undefined) await this.follower.applied({ ...record, revision });
    return revision;
  }

  private async apply(records: RegistryRecord[], areAll: boolean): Promise<void> {
    if (this.isClosed) return;
    await this.stored!.apply(records, areAll, this.isOpening);
    this.wakeAt(this.stored!.nextExpiry());
    if (!this.isOpening) void this.rewrite();
  }

  private wakeAt(time: number): void {
    if (time === this.wakesAt) return;
    this.wakesAt = time;
    clearTimeout(this.timer);
    if (time === Infinity || this.isClosed) return;
    this.timer = setTimeout(() => this.wake(), delayUntil(time, Date.now())).unref();
  }

  /** Ends expired rotations in this process, then in the store. */
  private wake(): void {
    this.wakesAt = Infinity;
    this.stored!.expire(Date.now());
    this.wakeAt(this.stored!.nextExpiry());
    void this.rewrite();
  }

  /** Rewrites stale entries, unless another process already has. Never rejects. */
  private async rewrite(): Promise<void> {
    if (this.isRewriting) return;
    this.isRewriting = true;
    const { stale } = this.stored!;
    try {
      for (const entry of stale) {
        if (this.isClosed) return;
        stale.delete(entry);
        await this.inTurn(entry.kind, entry.name, () => this.rewriteEntry(entry)).catch((error) => {
          stale.add(entry);
          throw error;
        });
      }
    } catch (error) {
      if (this.isClosed) return;
      this.entries.logger.limited('warn', `The registry cannot be written: ${errorMessage(error)}`);
      this.wakeAt(Math.min(this.stored!.nextExpiry(), Date.now() + REWRITE_DELAY));
    } finally {
      this.isRewriting = false;
    }
  }

  private async rewriteEntry(entry: StoredEntry): Promise<void> {
    const { kind, name, document, fault, revision } = entry;
    if (!document) return;
    const text = this.codec.encode(kind, document, fault === undefined);
    const written = await this.store.write({ kind, name, document: text }, revision);
    entry.revision = written ?? revision;
  }
}

function sourcesOf({ options }: AnyDocument): string[] | undefined {
  return (options as EntryDocuments['destination']['options']).sources;
}
