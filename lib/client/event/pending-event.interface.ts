import type { MessageType } from '../message/message.interface.js';
import type { TraceFields } from '../telemetry/trace-context.js';
import type { Context } from './context.js';
import type { FlushGroup } from './flush-group.js';

/**
 * Called when an event has been delivered or has failed.
 *
 * @param err Why it was not delivered; undefined where it was.
 * @param ctx The event.
 */
export type Callback = (err?: unknown, ctx?: Context) => unknown;

/** An event between the call that recorded it and its outcome. */
export interface PendingEvent {
  readonly type: MessageType;
  readonly callback: Callback | undefined;
  /** Undefined once the event has its outcome. */
  group: FlushGroup | undefined;
  /** The message as it goes over the wire. */
  json: string;
  /** The trace that it was recorded in. */
  trace: TraceFields | undefined;
  /** Its size in UTF-8, once it is queued. */
  bytes: number;
  /** Made when a plugin, a callback or a listener needs it. */
  context: Context | undefined;
  /** Receives the outcome of the delivery instead of the ledger, where plugins still process the event. */
  onDelivered: ((reason: unknown) => void) | undefined;
}

/** Takes events that plugins are done with, and delivers them. */
export interface EventSink {
  /** Takes an event. Its outcome never comes within the call, as callbacks run later. */
  add(event: PendingEvent): void;
  /** Sends all waiting events as soon as a request may be made. */
  flush(): void;
  /** Fails the events in flight of this group and of the groups before it. */
  abort(group: FlushGroup, reason: Error): void;
  /** Fails every event. */
  abortAll(reason: Error): void;
}
