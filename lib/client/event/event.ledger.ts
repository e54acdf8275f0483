import type { MessageType } from '../message/message.interface.js';
import type { SerializedMessage } from '../message/serialized-message.js';
import type { TraceFields } from '../telemetry/trace-context.js';
import type { AnalyticsEmitter } from './analytics.emitter.js';
import { CallbackHold } from './callback-hold.js';
import { Context, isCancelled } from './context.js';
import { FlushGroup } from './flush-group.js';
import type { LossReporter } from './loss.reporter.js';
import type { BoundCallback, EventTransaction, PendingEvent } from './pending-event.interface.js';
import type { UserCodeCaller } from './user-code.caller.js';

/** Ensures that every event has exactly one outcome. */
export class EventLedger {
  private pending = 0;
  private group = new FlushGroup(0, 1);

  constructor(
    private readonly emitter: AnalyticsEmitter,
    private readonly userCode: UserCodeCaller,
    private readonly losses: LossReporter,
  ) {}

  get pendingCount(): number {
    return this.pending;
  }

  open(
    type: MessageType,
    message: SerializedMessage,
    callback: BoundCallback | undefined,
    trace?: TraceFields,
    transaction?: EventTransaction,
  ): PendingEvent {
    this.pending++;
    this.group.hold();
    const { group } = this;
    return { type, callback, transaction, group, message, trace, context: undefined, onDelivered: undefined };
  }

  /** Closes the group of the events recorded so far. If a callback calls this, the group no longer waits for it. */
  closeGroup(): FlushGroup {
    CallbackHold.releaseCurrent(this);
    const group = this.group;
    const next = new FlushGroup(group.index + 1, 2); // held by the previous group, and by being open
    this.group = next;
    group.isClosed = true;
    group.release();
    void group.done.then(() => next.release());
    return group;
  }

  /** Ends the delivery of an event. If plugins still process the event, they settle it. */
  end(event: PendingEvent, reason: unknown): void {
    if (event.onDelivered) event.onDelivered(reason);
    else this.settle(event, reason);
  }

  /** Ends the delivery of an event asynchronously, because callbacks never run within the call that records it. */
  endLater(event: PendingEvent, reason: unknown): void {
    void Promise.resolve().then(() => this.end(event, reason));
  }

  /**
   * Settles an event, unless it is already settled: calls its callback, then emits the event of its type or `error`.
   * The event's group also waits for the promise that the callback returned.
   *
   * @param reason Reason why it was not delivered; undefined if it was.
   */
  settle(event: PendingEvent, reason: unknown): void {
    const { group, callback } = event;
    if (!group) return;
    event.group = undefined;
    if (reason !== undefined) this.contextOf(event).setFailedDelivery({ reason });
    const hold = callback && new CallbackHold(this, group);
    const returned = callback && this.userCode.call(() => callback(reason, this.contextOf(event), hold));
    if (reason !== undefined) {
      const ctx = this.contextOf(event);
      if (isCancelled(ctx, reason)) this.emitter.emit('cancelled', ctx);
      else if (!callback) this.losses.report('error', reason);
      if (!ctx.isFiltered && !event.transaction) this.emitter.emit('error', { code: 'delivery_failure', reason, ctx });
    } else if (this.emitter.isHeard(event.type)) {
      this.emitter.emit(event.type, this.contextOf(event));
    }
    if (--this.pending === 0) this.emitter.emit('drained');
    const held = hold ?? group;
    if (returned) void returned.then(() => held.release());
    else held.release();
  }

  private contextOf(event: PendingEvent): Context {
    return (event.context ??= new Context(event.message.json));
  }
}
