import { AsyncLocalStorage } from 'node:async_hooks';

import type { FlushGroup } from './flush-group.js';

/** A callback's hold of the group of its event, until the callback ends or flushes: that flush cannot wait for it. */
export class CallbackHold {
  /** By the async context of the callback. */
  private static readonly storage = new AsyncLocalStorage<CallbackHold | undefined>();

  /** @param owner whose flushes wait for the group */
  constructor(
    private readonly owner: object,
    private group: FlushGroup | undefined,
  ) {}

  /** Runs a callback with its hold. */
  static run<Args extends unknown[]>(
    hold: CallbackHold | undefined,
    callback: (...args: Args) => unknown,
    ...args: Args
  ): unknown {
    return this.storage.run(hold, callback, ...args);
  }

  /** Releases the hold of the running callback, if it is one of this owner. */
  static releaseCurrent(owner: object): void {
    const hold = this.storage.getStore();
    if (hold?.owner === owner) hold.release();
  }

  release(): void {
    this.group?.release();
    this.group = undefined;
  }
}
