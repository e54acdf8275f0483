import { EventEmitter } from 'node:events';
import type { ContextEvent, MessageType } from '../message/message.interface.js';
import type { Context } from './context.js';
import { UserCodeCaller } from './user-code.caller.js';

/** Argument of an `error` listener. */
export interface EmittedError {
  /** `delivery_failure`, `plugin_failure` or `plugin_load_failure`. */
  code: string;
  /**
   * Cause of the failure. For an HTTP error status, an `Error` such as `[503] Service Unavailable`, with the reason and
   * the code that a relay answers.
   */
  reason?: unknown;
  /** The affected event, if any. */
  ctx?: Context | undefined;
}

/** An HTTP request about to be sent. Its headers and body contain the write key. */
export interface HttpRequestInfo {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** Response to an HTTP request. */
export interface HttpResponseInfo {
  status: number;
  statusText: string;
  url: string;
  /** Response headers by lower-case name. */
  headers: Record<string, string>;
  /** Response body, truncated if very long. */
  body: string;
}

/**
 * Emitter events and the arguments of their listeners. An event named after a message type, such as `track`, means that
 * a message of that type was delivered.
 *
 * @see docs/specification.md, "Client events"
 */
export interface AnalyticsEvents extends Record<MessageType, [ctx: Context]> {
  /** An event was not delivered, or a plugin failed. */
  error: [error: EmittedError];
  /** An event was cancelled, and so is not delivered: by `beforeSend`, or by a plugin, which emits `error` as well. */
  cancelled: [ctx: Context];
  /** An HTTP request is about to be sent. */
  http_request: [request: HttpRequestInfo];
  /** An HTTP response was received. */
  http_response: [response: HttpResponseInfo];
  /** An event was recorded after `closeAndFlush`; it is not delivered. */
  call_after_close: [event: ContextEvent];
  /** Every event recorded so far has been delivered or has failed. */
  drained: [];
  /** Never emitted. For code written for other clients, which emit it before a listener can be added. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type of the settings refers to this one
  initialize: [settings: Record<string, any>];
  /** Plugins with these names were registered. */
  register: [pluginNames: string[]];
  /** Plugins with these names were removed. */
  deregister: [pluginNames: string[]];
}

/** Listener of an emitter event. Its errors never affect the library. */
export type Listener<E extends keyof AnalyticsEvents> = (...args: AnalyticsEvents[E]) => unknown;

/**
 * Event emitter that `Analytics` extends. Unlike Node's `EventEmitter`, it never throws, even if `error` has no
 * listener.
 */
export class AnalyticsEmitter {
  private readonly listeners = new EventEmitter().setMaxListeners(0);
  /** @internal */
  protected readonly userCode = new UserCodeCaller();

  /** Adds a listener that is called each time an event is emitted. A listener that is not a function is ignored. */
  on<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    if (typeof listener === 'function') this.listeners.on(event, listener);
    return this;
  }

  /** Adds a listener that is called only the next time an event is emitted. */
  once<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    if (typeof listener === 'function') this.listeners.once(event, listener);
    return this;
  }

  /** Removes a listener, whether `on` or `once` added it. */
  off<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    while (this.listeners.listeners(event).includes(listener)) this.listeners.off(event, listener);
    return this;
  }

  /** Calls the listeners of an event, in the order in which they were added. */
  emit<E extends keyof AnalyticsEvents>(event: E, ...args: AnalyticsEvents[E]): this {
    for (const listener of this.listeners.rawListeners(event) as Listener<E>[]) {
      void this.userCode.call(() => listener(...args));
    }
    return this;
  }

  /** @internal Number of listeners of an event. */
  listenerCount(event: keyof AnalyticsEvents): number {
    return this.listeners.listenerCount(event);
  }

  /** @internal Whether an event has a listener. */
  isHeard(event: keyof AnalyticsEvents): boolean {
    return this.listenerCount(event) > 0;
  }
}
