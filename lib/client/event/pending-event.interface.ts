import type { MessageType } from '../message/message.interface.js';
import type { SerializedMessage } from '../message/serialized-message.js';
import type { TraceFields } from '../telemetry/trace-context.js';
import type { CallbackHold } from './callback-hold.js';
import type { Context } from './context.js';
import type { Endpoint } from './endpoint.interface.js';
import type { FlushGroup } from './flush-group.js';

/**
 * Called when an event has been delivered or has failed.
 *
 * @param err Reason why it was not delivered; undefined if it was.
 * @param ctx The event.
 */
export type Callback = (err?: unknown, ctx?: Context) => unknown;

/** A callback in the async context of the call that recorded its event. */
export type BoundCallback = (err?: unknown, ctx?: Context, hold?: CallbackHold) => unknown;

/** A transaction of the application that an event takes part in. */
export interface EventTransaction {
  readonly tx: unknown;
  /** Writes a message in the transaction. */
  write(message: SerializedMessage): Promise<unknown>;
}

/** An event between the call that recorded it and its outcome. */
export interface PendingEvent {
  readonly type: MessageType;
  readonly callback: BoundCallback | undefined;
  /** Receives the message in place of a batch. The call that recorded the event learns of a failure. */
  readonly transaction: EventTransaction | undefined;
  /** Undefined once the event has its outcome. */
  group: FlushGroup | undefined;
  /** The message as it is sent. */
  message: SerializedMessage;
  /** The trace in which the event was recorded. */
  trace: TraceFields | undefined;
  /** Created when a plugin, a callback or a listener needs it. */
  context: Context | undefined;
  /** Receives the outcome of the delivery instead of the ledger, while plugins still process the event. */
  onDelivered: ((reason: unknown) => void) | undefined;
}

/** Delivers events that the plugins have processed. */
export interface EventSink {
  /** Where events are posted; undefined if they are not sent over HTTP. */
  readonly endpoint?: Endpoint | undefined;
  /** Accepts an event. Its outcome is always asynchronous, because callbacks run later. */
  add(event: PendingEvent): void;
  /** Sends all waiting events as soon as a request may be made. */
  flush(): void;
  /** Fails the events in flight of this group and of earlier ones. */
  abort(group: FlushGroup, reason: Error): void;
  /** Fails every event. */
  abortAll(reason: Error): void;
}
