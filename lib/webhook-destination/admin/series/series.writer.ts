import { randomUUID } from 'node:crypto';

import { errorMessage } from '../../../client/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { within } from '../../../common/time.util.js';
import type { SeriesStore } from '../../queue/series-store.interface.js';
import { type CountsKind, IntervalCounts } from './interval.counts.js';

/** Minimum time between two writes, in ms. */
const WRITE_INTERVAL = 10_000;

/** Maximum wait for the last write, in ms. */
const CLOSE_TIMEOUT = 2_000;

/** A series of one kind. */
export interface Series<C> {
  /** Returns the counts of the current interval. The caller adds to them synchronously. */
  now(series: string): C;
  /** Returns the sums of all processes for each interval that has counts, oldest first. */
  read(series: string, from: number, to: number): Promise<[start: number, counts: C][]>;
}

/** Writes all counts of this process to the store, where the counts of all processes add up. */
export class SeriesWriter {
  private readonly logger = new LimitedLogger('WebhookDestinationSeries');
  private readonly name = randomUUID();
  private readonly kinds: IntervalCounts<object>[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();

  /** @param store if undefined, the counts stay in memory for as long as the process runs */
  constructor(private readonly store: SeriesStore | undefined) {}

  add<C extends object>(kind: CountsKind<C>): Series<C> {
    const counts = new IntervalCounts(kind, this.name);
    this.kinds.push(counts);
    return {
      now: (series) => {
        this.schedule();
        return counts.now(series);
      },
      read: (series, from, to) => counts.sums(this.store, series, from, to),
    };
  }

  /** Writes the remaining counts, if the store answers in time. Called before the queue closes. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const ended = this.write().then(() => {
      clearTimeout(this.timer);
      this.logger.end();
    });
    await within(CLOSE_TIMEOUT, ended, 'the last write').catch(() => undefined);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => void this.write(), WRITE_INTERVAL).unref();
  }

  /** Queues the writes: of two concurrent ones, the older could win, or fail after its counts were dropped. */
  private write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeChanges());
    return this.writing;
  }

  /** Never rejects. */
  private async writeChanges(): Promise<void> {
    this.timer = undefined;
    const changes = this.kinds.map((counts) => counts.takeChanges());
    const records = changes.flatMap((change) => change.records);
    if (records.length === 0) return;
    try {
      await this.store?.write(records, Math.min(...this.kinds.map(({ oldest }) => oldest)));
      for (const counts of this.kinds) counts.drop(this.store ? Infinity : counts.oldest);
      this.logger.succeeded();
    } catch (error) {
      for (const { putBack } of changes) putBack();
      this.schedule();
      this.logger.failed(`Figures by the minute cannot be written; trying again: ${errorMessage(error)}`);
    }
  }
}
