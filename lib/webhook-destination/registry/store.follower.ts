import type { Subscription } from 'rxjs';

import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';

/** Time between two reads that no signal asked for, in ms. */
const POLL_INTERVAL = 5_000;

/** How long the start waits until changes of others are heard of, in ms. */
const LISTEN_TIMEOUT = 1_000;

/** Applies the records of a store in the order of their changes, those of other processes included. */
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

  /** Resolves once all records are applied; what changes after that follows by itself. */
  async start(): Promise<void> {
    await this.listen();
    await this.read();
    if (this.store.changed$ && !this.isStopped) {
      this.poll = setInterval(() => this.readSoon(), POLL_INTERVAL).unref();
    }
  }

  stop(): void {
    this.isStopped = true;
    this.signals?.unsubscribe();
    clearInterval(this.poll);
  }

  /** Resolves once all changes made before this call are applied. In a store of this process alone, they are. */
  async catchUp(): Promise<void> {
    if (this.store.changed$) await this.read();
  }

  /** Resolves once a change of this process is applied, after those that others made before it. */
  async applied(record: RegistryRecord): Promise<void> {
    try {
      // Only a read has the changes of others too: they may have come before it, or have undone it.
      if (this.store.changed$) return await this.read();
    } catch {
      // It is durable all the same, and the outage has been logged.
    }
    await this.inOrder(() => this.apply([record]));
  }

  /** Resolves once changes of others are heard of, which the first signal says; a process that is slow to does without. */
  private listen(): Promise<void> {
    const { changed$ } = this.store;
    if (!changed$) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LISTEN_TIMEOUT);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      this.signals = changed$.subscribe({
        next: () => {
          begin();
          this.readSoon();
        },
        error: (error) => {
          begin();
          this.logger.error(`Changes of the registry come ${POLL_INTERVAL / 1_000} s late: ${errorMessage(error)}`);
        },
        complete: begin,
      });
    });
  }

  private readSoon(): void {
    this.read().catch(() => undefined);
  }

  /** Calls made before a read begins share it. */
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
          this.logger.failed(`The registry cannot be read, its last state stays: ${errorMessage(error)}`);
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
