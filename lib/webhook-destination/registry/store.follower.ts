import { firstValueFrom, type Observable, Subject, type Subscription, timeout } from 'rxjs';

import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';

/** Interval between reads that no signal requested, in ms. */
const POLL_INTERVAL = 5_000;

/** How long startup waits until changes of other processes are received, in ms. */
const LISTEN_TIMEOUT = 1_000;

/** Applies the records of a store in the order of their changes, including those of other processes. */
export class StoreFollower {
  private readonly logger = new LimitedLogger('WebhookDestination');
  private last: Promise<unknown> = Promise.resolve();
  private reading: Promise<void> | undefined;
  private revision = 0;
  private signals: Subscription | undefined;
  private poll: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly store: RegistryStore,
    private readonly apply: (records: RegistryRecord[]) => Promise<void>,
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

  /** Resolves once all changes made before this call are applied; immediately if only this process uses the store. */
  async catchUp(): Promise<void> {
    if (this.store.changed$) await this.read();
  }

  /** Resolves once a change of this process is applied, after the earlier changes of other processes. */
  async applied(record: RegistryRecord): Promise<void> {
    try {
      // Only a read includes the changes of other processes, which may precede this change or have undone it.
      if (this.store.changed$) return await this.read();
    } catch {
      // The change is durable anyway, and the outage has been logged.
    }
    await this.inOrder(() => this.apply([record]));
  }

  /** Resolves at the first signal: changes of other processes are received from now on. Gives up after a timeout. */
  private async listen(changed$: Observable<void>): Promise<void> {
    const signals$ = new Subject<void>();
    signals$.subscribe({
      next: () => this.readSoon(),
      error: (error) =>
        this.logger.error(
          `Change signals of the registry failed; it is polled every ${POLL_INTERVAL / 1_000} s: ${errorMessage(error)}`,
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
    this.reading ??= this.inOrder(async () => {
      this.reading = undefined;
      try {
        const records = await this.store.read(this.revision);
        await this.apply(records);
        this.revision = records.at(-1)?.revision ?? this.revision;
        this.logger.succeeded();
      } catch (error) {
        if (!this.isStopped)
          this.logger.failed(`The registry cannot be read; the last known entries stay in use: ${errorMessage(error)}`);
        throw error;
      }
    });
    return this.reading;
  }

  private inOrder<T>(task: () => Promise<T>): Promise<T> {
    const done = this.last.then(task);
    this.last = done.catch(() => undefined);
    return done;
  }
}
