import { within } from '../../../common/time.util.js';
import type { NewDelivery } from '../delivery-queue.interface.js';

/** Maximum number of deliveries added with one command. */
const MAX_GROUP = 1_000;

interface Call<T> {
  deliveries: T[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Adds the deliveries of concurrent requests together, with one store operation at a time. */
export class AddGroup<T = NewDelivery> {
  private calls: Call<T>[] = [];
  private running: Promise<void> | undefined;

  /** @param write adds deliveries, all or none as far as the store can */
  constructor(private readonly write: (deliveries: T[]) => Promise<void>) {}

  /** Adds deliveries. Rejects after `timeout` ms at the latest. */
  async add(deliveries: T[], timeout: number): Promise<void> {
    let call: Call<T> | undefined;
    const added = new Promise<void>((resolve, reject) => {
      call = { deliveries, resolve, reject };
      this.calls.push(call);
      this.running ??= this.run();
    });
    try {
      await within(timeout, added, 'adding deliveries');
    } catch (error) {
      // Rejected deliveries must not be written later, ahead of new ones.
      const index = this.calls.indexOf(call!);
      if (index !== -1) this.calls.splice(index, 1);
      throw error;
    }
  }

  /** Resolves once nothing is being added. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    await Promise.resolve(); // calls made in the same turn join the first group
    while (this.calls.length > 0) {
      const group = this.takeGroup();
      try {
        await this.write(group.flatMap(({ deliveries }) => deliveries));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error as Error);
      }
    }
    this.running = undefined;
  }

  private takeGroup(): Call<T>[] {
    let count = 0;
    const end = this.calls.findIndex(({ deliveries }, index) => (count += deliveries.length) > MAX_GROUP && index > 0);
    return this.calls.splice(0, end === -1 ? this.calls.length : end);
  }
}
