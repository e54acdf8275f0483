import { firstValueFrom, type Observable, Subject, type Subscription, timeout } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';
import { within } from '../../common/promise.util.js';
import type { RecordKind, RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';

/** Interval between reads that no signal requested, in ms. */
const POLL_INTERVAL = 5_000;

/** How long startup waits until changes of other processes are received, in ms. */
const LISTEN_TIMEOUT = 1_000;

/** Time since the store was read after which what is applied is outdated, in ms. */
const MAX_AGE = 5 * 60 * 1_000;

/** Time limit for a read that a caller cannot go on without, in ms. */
const READ_TIME = 5_000;

type RecordId = Omit<RegistryRecord, 'document'>;

/**
 * Applies the records of some kinds in the order of their changes, including those of other processes. A store may also
 * lose changes, in a failover or when a backup is restored; then all of its records are applied.
 */
export class StoreFollower<K extends RecordKind> {
  private readonly logger = new LimitedLogger('WebhookDestination');
  private last: Promise<unknown> = Promise.resolve();
  private reading: Promise<void> | undefined;
  /** The latest record that is applied, without its document, which may hold secrets. */
  private latest: RecordId | undefined;
  private signals: Subscription | undefined;
  private poll: NodeJS.Timeout | undefined;
  private isStopped = false;
  private readAt = -Infinity;

  /** @param subject the records, as the subject of log lines */
  constructor(
    private readonly store: RegistryStore,
    private readonly kinds: readonly K[],
    private readonly subject: string,
    private readonly apply: (records: RegistryRecord<K>[], areAll: boolean) => Promise<void>,
  ) {}

  /** Resolves once all records are applied. Later changes are applied as they occur. */
  async start(): Promise<void> {
    const { changed$ } = this.store;
    if (changed$) await this.listen(changed$);
    await this.read();
    if (changed$ && !this.isStopped) {
      this.poll = setInterval(() => this.readSoon(), POLL_INTERVAL).unref();
    }
  }

  stop(): void {
    this.isStopped = true;
    this.signals?.unsubscribe();
    clearInterval(this.poll);
  }

  /** Whether the store was not read for 5 minutes: another process may have changed what is applied. */
  get isOutdated(): boolean {
    return this.store.changed$ !== undefined && performance.now() - this.readAt > MAX_AGE;
  }

  /** Resolves once all changes made before this call are applied; immediately if only this process uses the store. */
  async catchUp(): Promise<void> {
    if (this.store.changed$) await this.read();
  }

  /**
   * As {@link catchUp}, for a caller that cannot go on without.
   *
   * @param what the records, for the error
   * @throws {QueueUnavailableError} if the store cannot be read within 5 s
   */
  async requireLatest(what: string): Promise<void> {
    await within(READ_TIME, this.catchUp(), `the read of ${what}`).catch((cause: unknown) => {
      throw new QueueUnavailableError(`${what} cannot be read from the store; try again later`, { cause });
    });
  }

  /** Resolves once all records of the store are applied, whatever was applied before. */
  async reload(): Promise<void> {
    await this.inOrder(() => this.update(true));
  }

  /** Resolves once a change of this process is applied, after the earlier changes of other processes. */
  async applied(record: RegistryRecord<K>): Promise<void> {
    try {
      // Only a read includes the changes of other processes, which may precede this change or have undone it.
      if (this.store.changed$) return await this.read();
    } catch {
      // The change is durable anyway, and the outage has been logged.
    }
    await this.inOrder(() => this.apply([record], false));
  }

  /** Resolves at the first signal: changes of other processes are received from now on. Gives up after a timeout. */
  private async listen(changed$: Observable<void>): Promise<void> {
    const signals$ = new Subject<void>();
    signals$.subscribe({
      next: () => this.readSoon(),
      error: (error) =>
        this.logger.error(
          `Change signals of the store failed; it is polled every ${POLL_INTERVAL / 1_000} s: ${errorMessage(error)}`,
        ),
    });
    const first = firstValueFrom(signals$.pipe(timeout(LISTEN_TIMEOUT)), { defaultValue: undefined });
    this.signals = changed$.subscribe(signals$);
    await first.catch(() => undefined);
  }

  private readSoon(): void {
    this.read().catch(() => undefined);
  }

  /** Calls made before a read begins share that read. */
  private read(): Promise<void> {
    this.reading ??= this.inOrder(() => {
      this.reading = undefined;
      return this.update(false);
    });
    return this.reading;
  }

  /** Applies the records that changed, or all of them if this is wanted or the store has lost changes. */
  private async update(all: boolean): Promise<void> {
    const { latest } = this;
    const { revision } = latest ?? { revision: 0 };
    const readAt = performance.now();
    try {
      // With the latest record, which shows that the store still has it.
      let records = all ? [] : await this.store.read(latest ? revision - 1 : 0);
      const areAll = all || (latest !== undefined && !records.some((record) => isSame(record, latest)));
      if (areAll) records = await this.store.read(0);
      const changed = areAll ? records : records.filter((record) => record.revision > revision);
      await this.apply(
        changed.filter((record) => this.isApplied(record)),
        areAll,
      );
      const last = changed.at(-1);
      if (last) this.latest = { kind: last.kind, name: last.name, revision: last.revision };
      else if (areAll) this.latest = undefined;
      this.readAt = readAt;
      this.logger.succeeded();
    } catch (error) {
      if (!this.isStopped)
        this.logger.failed(`${this.subject} cannot be read; what was read last stays in use: ${errorMessage(error)}`);
      throw error;
    }
  }

  private isApplied(record: RegistryRecord): record is RegistryRecord<K> {
    return (this.kinds as readonly RecordKind[]).includes(record.kind);
  }

  private inOrder<T>(task: () => Promise<T>): Promise<T> {
    const done = this.last.then(task);
    this.last = done.catch(() => undefined);
    return done;
  }
}

function isSame(one: RecordId, other: RecordId): boolean {
  return one.kind === other.kind && one.name === other.name;
}
