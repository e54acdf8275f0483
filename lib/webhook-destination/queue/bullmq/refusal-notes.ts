import { errorMessage } from '../../../common/error.util.js';
import { LineLogger } from '../../../common/line.logger.js';
import { ADDRESS_NOT_ALLOWED, type Lease } from '../delivery-queue.interface.js';
import type { CheckedQuery } from '../query.util.js';
import { note } from './retention-sweep.js';
import type { SharedStore } from './shared-store.interface.js';

/**
 * Notes which BullMQ queues may hold deliveries that the network policy stopped. Each start asks for these, and BullMQ
 * would have to read all dead deliveries to find none.
 */
export class RefusalNotes {
  private readonly logger = new LineLogger('BullmqQueue');

  /** @param age how long dead deliveries are kept, in ms */
  constructor(
    private readonly store: SharedStore,
    private readonly age: number,
  ) {}

  /** Whether a query asks for all such deliveries of a destination, and for nothing else. */
  concerns(query: CheckedQuery): boolean {
    const fields = ['destination', 'state', 'reason'];
    return query.reason === ADDRESS_NOT_ALLOWED && Object.keys(query).every((field) => fields.includes(field));
  }

  /** A lease whose end is noted. */
  follow(queueName: string, lease: Lease): Lease {
    return {
      delivery: lease.delivery,
      settle: (outcome) => {
        const settled = lease.settle(outcome);
        if (outcome?.state !== 'dead' || outcome.reason !== ADDRESS_NOT_ALLOWED) return settled;
        // Not before it is dead: a replay that takes the note away looks once more after that.
        return settled.then(async (isSettled) => {
          if (isSettled) await this.add(queueName);
          return isSettled;
        });
      },
    };
  }

  async has(queueName: string): Promise<boolean> {
    return (await this.store.remembered(queueName, [ADDRESS_NOT_ALLOWED])).size > 0;
  }

  remove(queueName: string): Promise<void> {
    return this.store.remember(queueName, [{ id: ADDRESS_NOT_ALLOWED, until: Date.now() }]);
  }

  private async add(queueName: string): Promise<void> {
    try {
      await note(this.store, queueName, [{ id: ADDRESS_NOT_ALLOWED, until: Date.now() + this.age }]);
    } catch (error) {
      this.logger.warn(
        `A dead delivery cannot be replayed automatically once its address is allowed: ${errorMessage(error)}`,
      );
    }
  }
}
