import { bufferTime, concatMap, filter, lastValueFrom, Subject, takeUntil } from 'rxjs';

import { errorMessage } from '../client/error.util.js';
import { QueueUnavailableError } from '../common/relay.errors.js';
import type { DeliveryOutcome, Lease } from '../webhook-destination/queue/delivery.interface.js';
import type { DeliveryQueue } from '../webhook-destination/queue/delivery.queue.js';
import type { SharedQueue } from '../stores/shared/shared.queue.js';
import { countOf } from './command.util.js';

/** Number of deliveries that are moved at once. */
const GROUP = 256;

/** Maximum time that a group waits to be full, in ms. */
const GROUP_TIME = 5;

/**
 * Moves the pending deliveries of a queue to another. Each is added to the new queue before it leaves the old one, so
 * an interrupted move can be run again.
 */
export class DeliveryMove {
  private moved = 0;

  constructor(
    private readonly source: DeliveryQueue,
    private readonly target: SharedQueue,
  ) {}

  /**
   * Resolves with the number of deliveries that were moved.
   * @throws {QueueUnavailableError} with the reason and that number, if a queue fails
   */
  async run(): Promise<number> {
    try {
      for (const destination of new Set((await this.source.counts()).map((row) => row.destination))) {
        await this.moveDue(destination);
        await this.moveWaiting(destination);
      }
    } catch (cause) {
      const moved = countOf(this.moved, 'delivery', 'deliveries');
      throw new QueueUnavailableError(
        `${errorMessage(cause)}\n${moved} moved so far; run the command again to move the rest`,
        { cause },
      );
    }
    return this.moved;
  }

  /** Moves the due deliveries, the oldest first. */
  private async moveDue(destination: string): Promise<void> {
    const end = new Subject<void>();
    const move = async (leases: Lease[]) => {
      await this.target.takeOver(leases.map(({ delivery }) => delivery));
      // Settling is the fastest way to remove single deliveries from the file.
      const outcome: DeliveryOutcome = { state: 'delivered', attempt: { startedAt: Date.now(), results: [] } };
      await Promise.all(leases.map((lease) => lease.settle(outcome)));
      this.moved += leases.length;
    };
    const moving = lastValueFrom(
      this.source.consume(destination, GROUP).pipe(
        takeUntil(end),
        bufferTime(GROUP_TIME, null, GROUP),
        filter((leases) => leases.length > 0),
        concatMap(move),
      ),
      { defaultValue: undefined },
    );
    await Promise.race([moving, this.source.idle()]);
    end.next();
    await moving;
  }

  /** Moves the deliveries that wait for a retry. */
  private async moveWaiting(destination: string): Promise<void> {
    const query = { destination, state: 'waiting' } as const;
    let after: string | undefined;
    for (;;) {
      const records = await this.source.list(query, { limit: GROUP, after });
      if (records.length === 0) break;
      await this.target.takeOver(records.map((record) => ({ ...record, body: Buffer.from(record.body) })));
      after = records[records.length - 1]!.id;
    }
    this.moved += await this.source.purge(query);
  }
}
