import type { AnalyticsEmitter } from '../pipeline/analytics.emitter.js';
import { Context } from '../pipeline/context.js';
import type { SafeCaller } from '../pipeline/safe.caller.js';
import type { MessageType } from '../message/message.interface.js';

/**
 * Called when an event has been delivered or has failed (§4.3).
 *
 * @param err Why it was not delivered; undefined where it was.
 * @param ctx The event.
 */
export type Callback = (err?: unknown, ctx?: Context) => unknown;

/** The events recorded between two calls of `flush`, and whether all before them have ended too. */
export class FlushGroup {
  /** Whether a flush covers these events: they do not wait for others any more. */
  isClosed = false;
  readonly done: Promise<void>;
  private resolve!: () => void;

  /** @param holds What has to end before these events count as flushed. */
  constructor(
    readonly index: number,
    private holds: number,
  ) {
    this.done = new Promise((resolve) => (this.resolve = resolve));
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    if (--this.holds === 0) this.resolve();
  }
}

/** An event between the call that recorded it and its end. */
export interface PendingEvent {
  readonly type: MessageType;
  readonly callback: Callback | undefined;
  /** Undefined once the event has ended. */
  group: FlushGroup | undefined;
  /** The message as it goes over the wire. */
  json: string;
  /** Its size in UTF-8, once it is queued. */
  bytes: number;
  /** Made when a plugin, a callback or a listener needs it. */
  context: Context | undefined;
  /** Told of the delivery in place of the ledger, where plugins have more to do with the event. */
  onDelivered: ((reason: unknown) => void) | undefined;
}

/** Sees to it that every event ends exactly once, and tells when all of them have. */
export class EventLedger {
  private pending = 0;
  private group = new FlushGroup(0, 1);

  constructor(
    private readonly emitter: AnalyticsEmitter,
    private readonly outside: SafeCaller,
  ) {}

  /** Events that have not ended. */
  get pendingCount(): number {
    return this.pending;
  }

  /** Enters an event. */
  open(type: MessageType, json: string, callback: Callback | undefined): PendingEvent {
    this.pending++;
    this.group.hold();
    return { type, callback, group: this.group, json, bytes: 0, context: undefined, onDelivered: undefined };
  }

  /** Closes the group of the events recorded so far. */
  closeGroup(): FlushGroup {
    const group = this.group;
    const next = new FlushGroup(group.index + 1, 2); // held by the group before it, and by being open
    this.group = next;
    group.isClosed = true;
    group.release();
    void group.done.then(() => next.release());
    return group;
  }

  /** Ends the delivery of an event: where plugins have more to do with it, they settle it. */
  end(event: PendingEvent, reason: unknown): void {
    if (event.onDelivered) event.onDelivered(reason);
    else this.settle(event, reason);
  }

  /**
   * Ends an event: its callback, then the event of its type or `error`. What has ended is not ended again.
   * The event's group also waits for the promise that the callback returned.
   *
   * @param reason Why it was not delivered; undefined where it was.
   */
  settle(event: PendingEvent, reason: unknown): void {
    const { group, callback } = event;
    if (!group) return;
    event.group = undefined;
    if (reason !== undefined) this.contextOf(event).setFailedDelivery({ reason });
    const returned = callback && this.outside.call(() => callback(reason, this.contextOf(event)));
    if (reason !== undefined) {
      this.emitter.emit('error', { code: 'delivery_failure', reason, ctx: this.contextOf(event) });
    } else if (this.emitter.isHeard(event.type)) {
      this.emitter.emit(event.type, this.contextOf(event));
    }
    if (--this.pending === 0) this.emitter.emit('drained');
    if (returned) void returned.then(() => group.release());
    else group.release();
  }

  private contextOf(event: PendingEvent): Context {
    return (event.context ??= new Context(event.json));
  }
}
