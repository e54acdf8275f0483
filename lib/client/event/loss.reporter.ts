import { toPrintable } from '../printable.util.js';
import { emitWarning } from '../warning.util.js';
import type { AnalyticsEmitter } from './analytics.emitter.js';

// Kept here, because a test's fake timers may replace the global one, and then no flush would end.
const nextTurn = setImmediate;

const turn = (): Promise<void> => new Promise((resolve) => nextTurn(resolve));

/** Names of the emitter events that report a loss. */
type LossEvent = 'error' | 'call_after_close';

/** Warns the process once of events that are lost while the application listens to nothing that reports it. */
export class LossReporter {
  /** Listeners of the telemetry, which counts losses but shows them to nobody. */
  private readonly observers: Record<LossEvent, number>;
  private count = 0;
  /** Fulfilled when the warning is written; undefined as long as there is none. */
  written: Promise<void> | undefined;

  /** @param describe Describes lost events in one line. */
  constructor(
    private readonly emitter: AnalyticsEmitter,
    private readonly describe: (count: number, reason: unknown) => string,
  ) {
    this.observers = {
      error: emitter.listenerCount('error'),
      call_after_close: emitter.listenerCount('call_after_close'),
    };
  }

  /** Reports a lost event, unless the application listens to this emitter event. */
  report(event: LossEvent, reason: unknown): void {
    if (this.emitter.listenerCount(event) > this.observers[event]) return;
    this.count++;
    this.written ??= this.warn(event, reason);
  }

  private async warn(event: LossEvent, reason: unknown): Promise<void> {
    await turn(); // The other events of the batch fail with this one.
    const line = toPrintable(this.describe(this.count, reason));
    const advice = `To see every failure, add a listener: analytics.on('${event}', ...). This warning appears once`;
    emitWarning(`${line}. ${advice}`);
    await turn(); // Node writes the warning later.
  }
}
