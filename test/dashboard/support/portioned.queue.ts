import { type DeliveryQueueFactory, type DeliveryRecord, memoryQueue } from 'nestjs-analytics-relay';

/** Lets through as many as it is opened for. */
class Gate {
  private left = 0;
  private readonly waiting: (() => void)[] = [];

  open(count: number): void {
    this.left += count;
    while (this.left > 0 && this.waiting.length > 0) {
      this.left--;
      this.waiting.shift()!();
    }
  }

  async pass(): Promise<void> {
    if (this.left > 0) this.left--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/**
 * A queue whose searches for a user read two deliveries a portion, each when the gate lets it through: as an engine with
 * millions of deliveries, which has read much without finding more.
 */
export function portionedQueue(): { queue: DeliveryQueueFactory; gate: Gate } {
  const gate = new Gate();
  const queue: DeliveryQueueFactory = () => {
    const inMemory = memoryQueue()();
    const { searches } = inMemory;
    const search = searches.search.bind(searches);
    Object.assign(searches, {
      search: async ({ userId, ...others }: Parameters<typeof search>[0], page: Parameters<typeof search>[1]) => {
        if (userId === undefined) return search(others, page);
        await gate.pass();
        const read = await search(others, { ...page, limit: 2 });
        const isOfUser = (record: DeliveryRecord) => record.userId === userId;
        return { ...read, deliveries: read.deliveries.filter(isOfUser) };
      },
    });
    return inMemory;
  };
  return { queue, gate };
}
