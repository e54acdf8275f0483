import { errorMessage } from '../../client/error.util.js';
import { within } from '../../common/promise.util.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { firstAcceptedAt, type QueueFigures } from './queue.figures.js';

/** Time limit for a write to the queue, and for reading each figure, in ms. */
const TIMEOUT = 1_500;

/** Bounds beyond which a relay is impaired. A figure without a bound is not read. */
interface HealthBounds {
  /** Maximum age of the oldest waiting delivery, in ms. */
  oldestWaiting?: number | undefined;
  /** Maximum number of dead deliveries on record. */
  dead?: number | undefined;
  /** Minimum free space of the queue's disk, in bytes. */
  freeDisk?: number | undefined;
}

/** Result of a health check. */
export interface HealthReport {
  /** Why the queue cannot be written to; undefined if it can. */
  fault?: string;
  /** Problems of a relay that still works. */
  impairments: string[];
}

/** Checks the health of a relay. A check ends within 2 s. */
export class RelayHealth {
  /** Operations in progress: while the queue hangs, further checks share them. */
  private readonly running = new Map<string, Promise<unknown>>();

  /** @param countDown returns the number of destinations that are down */
  constructor(
    private readonly queue: DeliveryQueue,
    private readonly figures: QueueFigures,
    private readonly countDown: () => number,
  ) {}

  async check({ oldestWaiting, dead, freeDisk: leastFree = 0 }: HealthBounds): Promise<HealthReport> {
    const written = this.run('a write to the queue', () => this.queue.check());
    const figures = [
      oldestWaiting !== undefined && this.findAge(oldestWaiting),
      dead !== undefined && this.findDead(dead),
    ];
    try {
      const [{ isFull, freeDisk = Infinity, unreadable }, ...found] = await Promise.all([written, ...figures]);
      const down = this.countDown();
      const impairments = [
        down > 0 && `destinations down: ${down}`,
        ...found,
        unreadable > 0 && `dead deliveries that cannot be read: ${unreadable}; purge them once you know why`,
        isFull && 'the queue is full: it has reached maxBytes',
        freeDisk < leastFree && `free disk space: ${freeDisk} bytes (bound: ${leastFree} bytes)`,
      ];
      return { impairments: impairments.filter((text) => typeof text === 'string') };
    } catch (error) {
      return { fault: errorMessage(error), impairments: [] };
    }
  }

  private findAge(bound: number): Promise<string | undefined> {
    const read = async () => {
      const acceptedAt = await firstAcceptedAt(this.figures);
      return acceptedAt === undefined ? 0 : this.queue.now() - acceptedAt;
    };
    return this.find('the age of the oldest delivery', read, (age) =>
      age > bound ? `oldest waiting delivery: ${seconds(age)} (bound: ${seconds(bound)})` : undefined,
    );
  }

  private findDead(bound: number): Promise<string | undefined> {
    const read = async () => {
      const counts = await this.figures.counts();
      return counts.reduce((sum, { state, count }) => sum + (state === 'dead' ? count : 0), 0);
    };
    return this.find('the number of dead deliveries', read, (dead) =>
      dead > bound ? `dead deliveries: ${dead} (bound: ${bound})` : undefined,
    );
  }

  /**
   * Reports a figure that cannot be read as an impairment. Concurrent checks share one read and apply their own bounds.
   */
  private find(
    what: string,
    read: () => Promise<number>,
    judge: (figure: number) => string | undefined,
  ): Promise<string | undefined> {
    return this.run(what, read).then(judge, (error) => `${what} cannot be read: ${errorMessage(error)}`);
  }

  private run<T>(what: string, start: () => Promise<T>): Promise<T> {
    let running = this.running.get(what) as Promise<T> | undefined;
    if (!running) {
      running = Promise.resolve()
        .then(start)
        .finally(() => this.running.delete(what));
      this.running.set(what, running);
    }
    return within(TIMEOUT, running, what);
  }
}

function seconds(duration: number): string {
  return `${Math.round(duration / 1_000)} s`;
}
