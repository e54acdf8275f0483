import { createAsyncScope } from '../../client/async-scope.util.js';
import { errorMessage } from '../../client/error.util.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';
import { within } from '../../common/promise.util.js';

interface Call<T> {
  items: T[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Handles the items of concurrent calls together, with one store operation at a time. */
export class CallGroup<T> {
  private calls: Call<T>[] = [];
  private running: Promise<void> | undefined;

  /** Runs in an async context of its own, because a group has the items of many requests. */
  private readonly run = createAsyncScope('CallGroup').bind(async (): Promise<void> => {
    await Promise.resolve(); // calls made in the same turn join the first group
    while (this.calls.length > 0) {
      const group = this.takeGroup();
      try {
        await this.write(group.flatMap(({ items }) => items));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error as Error);
      }
    }
    this.running = undefined;
  });

  /**
   * @param write handles items, all or none as far as the store can
   * @param limit maximum number of items in one operation
   */
  constructor(
    private readonly write: (items: T[]) => Promise<void>,
    private readonly limit = 1_000,
  ) {}

  /** Resolves once the items are handled. Rejects after `timeout` ms at the latest. */
  async add(items: T[], timeout?: number): Promise<void> {
    let call: Call<T> | undefined;
    const added = new Promise<void>((resolve, reject) => {
      call = { items, resolve, reject };
      this.calls.push(call);
      this.running ??= this.run();
    });
    try {
      await (timeout === undefined ? added : within(timeout, added, 'adding deliveries'));
    } catch (error) {
      // Rejected items must not be written later, ahead of new ones.
      const index = this.calls.indexOf(call!);
      if (index !== -1) this.calls.splice(index, 1);
      else if ((error as { code?: unknown }).code === 'timeout') {
        throw new QueueUnavailableError(`${errorMessage(error)}; they may be stored all the same`);
      }
      throw error;
    }
  }

  /** Resolves once nothing is being written. */
  async idle(): Promise<void> {
    await this.running;
  }

  private takeGroup(): Call<T>[] {
    let count = 0;
    const end = this.calls.findIndex(({ items }, index) => (count += items.length) > this.limit && index > 0);
    return this.calls.splice(0, end === -1 ? this.calls.length : end);
  }
}
