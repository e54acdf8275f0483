import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import { type CountedRecords, limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import {
  boundOf,
  ENDED_STATES,
  type EndedState,
  type Retention,
} from '../../webhook-destination/queue/retention.options.js';
import { countJobs, estimateBytes, readJob } from './job.finder.js';
import type { DestinationJobs, JobQueues } from './job-queues.js';

/** Records removed with one command, which blocks Redis. */
const PORTION = 250;

const TYPES = { delivered: 'completed', dead: 'failed' } as const;

/** Removes records past their retention, of some destinations at a time. */
export class RetentionSweep {
  /** Records that each destination had when it was last swept: all share one bound. */
  private readonly counts = new Map<string, Record<EndedState, CountedRecords>>();

  constructor(
    private readonly store: JobQueues,
    private readonly retention: Retention,
  ) {}

  /**
   * Sweeps the next destinations. Also restores those with open deliveries to the due list, because a BullMQ tool may
   * have moved their jobs.
   */
  async run(): Promise<SweptRecords> {
    const { store, retention, counts } = this;
    const swept: SweptRecords = { removed: 0, surplus: [] };
    const queues = (await store.nextSwept()).map((destination) => store.queueOf(destination));
    for (const queue of queues) {
      const { queued, delivering, waiting, delivered, dead } = await countJobs(queue);
      if (queued + delivering + waiting > 0) await store.due.restore(queue.destination);
      const { destination } = queue;
      const bytes = await estimateBytes(store, queue, delivered);
      counts.set(destination, {
        delivered: { destination, count: delivered, bytes },
        dead: { destination, count: dead, bytes: 0 },
      });
    }
    for (const state of ENDED_STATES) {
      const bound = boundOf(retention, state);
      for (const queue of queues) {
        const present = counts.get(queue.destination)![state];
        const until = Date.now() - bound.age;
        const old = (await endsBefore(queue, state, until)) ? await this.remove(queue, state, until, present.count) : 0;
        reduce(present, old);
        swept.removed += old;
      }
      const all = Array.from(counts.values(), (ended) => ended[state]);
      const limited = new Map(limitFairly(all, bound).map((limit) => [limit.destination, limit.count - limit.kept]));
      for (const queue of queues) {
        const { destination } = queue;
        const surplus = await this.remove(queue, state, Number.MAX_SAFE_INTEGER, limited.get(destination) ?? 0);
        reduce(counts.get(destination)![state], surplus);
        swept.removed += surplus;
        if (surplus > 0) swept.surplus.push({ destination, state, count: surplus });
      }
    }
    return swept;
  }

  /** Removes at most `most` records that ended until a time, first those that ended first; resolves with their number. */
  private async remove(queue: DestinationJobs, state: EndedState, until: number, most: number): Promise<number> {
    let count = 0;
    for (let removed = PORTION; count < most && removed === PORTION; count += removed) {
      const ids = await queue.backend.cleanJobsByState(TYPES[state], until, Math.min(most - count, PORTION));
      await this.store.forget(queue, ids);
      removed = ids.length;
    }
    return count;
  }
}

/** Takes removed records out of their number and size. */
function reduce(records: CountedRecords, removed: number): void {
  if (removed === 0) return;
  records.bytes -= (records.bytes * removed) / records.count;
  records.count -= removed;
}

/** Whether the first record that ended did so by a time. BullMQ's removal fails in a full Redis if it finds nothing. */
async function endsBefore(queue: DestinationJobs, state: EndedState, time: number): Promise<boolean> {
  const [[first] = []] = (await queue.backend.getRanges([TYPES[state]], 0, 0, true)) as unknown as [string[]?];
  if (first === undefined) return false;
  const { finishedOn = 0 } = (await readJob(queue, first)) ?? {};
  return finishedOn <= time;
}
