import { within } from '../../../common/time.util.js';
import type { NewDelivery } from '../delivery-queue.interface.js';

/** Most deliveries added with one command. */
const MAX_GROUP = 1_000;

interface Call {
  deliveries: NewDelivery[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Adds what concurrent requests bring together: one exchange with the store at a time. */
export class AddGroup {
  private calls: Call[] = [];
  private running = false;

  /** @param write adds deliveries, all or none as far as the store can */
  constructor(private readonly write: (deliveries: NewDelivery[]) => Promise<void>) {}

  /** Rejects after `timeout` ms at the latest. */
  async add(deliveries: NewDelivery[], timeout: number): Promise<void> {
    let call: Call | undefined;
    const added = new Promise<void>((resolve, reject) => {
      call = { deliveries, resolve, reject };
      this.calls.push(call);
      if (!this.running) void this.run();
    });
    try {
      await within(timeout, added, 'adding deliveries');
    } catch (error) {
      // What was refused is not written later, before what comes then.
      const index = this.calls.indexOf(call!);
      if (index !== -1) this.calls.splice(index, 1);
      throw error;
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    await Promise.resolve(); // whatever comes in the same turn goes with the first group
    while (this.calls.length > 0) {
      const group = this.takeGroup();
      try {
        await this.write(group.flatMap(({ deliveries }) => deliveries));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error as Error);
      }
    }
    this.running = false;
  }

  private takeGroup(): Call[] {
    let count = 0;
    const end = this.calls.findIndex(({ deliveries }, index) => (count += deliveries.length) > MAX_GROUP && index > 0);
    return this.calls.splice(0, end === -1 ? this.calls.length : end);
  }
}
