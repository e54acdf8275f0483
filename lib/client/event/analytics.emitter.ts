import { EventEmitter } from 'node:events';
import type { Message, MessageType } from '../message/message.interface.js';
import type { Context } from './context.js';
import { UserCodeCaller } from './user-code.caller.js';

/** What an `error` listener receives. */
export interface EmittedError {
  /** `delivery_failure`, `plugin_failure` or `plugin_load_failure`. */
  code: string;
  /** Why it happened; for a status the receiver answered, an `Error` such as `[503] Service Unavailable`. */
  reason: unknown;
  /** The event concerned, where there is one. */
  ctx?: Context | undefined;
}

/** An HTTP request about to be made. Its headers and body hold the write key. */
export interface HttpRequestInfo {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** An answer to an HTTP request. */
export interface HttpResponseInfo {
  status: number;
  statusText: string;
  url: string;
  /** By lower-case name. */
  headers: Record<string, string>;
  /** The answer's body, or the beginning of a very long one. */
  body: string;
}

/**
 * What each emitter event passes to its listeners. An event with the name of a kind of message: such a message was
 * delivered.
 *
 * @see docs/specification.md, "Client events"
 */
export interface AnalyticsEvents extends Record<MessageType, [ctx: Context]> {
  /** An event was not delivered, or a plugin failed. */
  error: [error: EmittedError];
  /** An HTTP request is about to be made. */
  http_request: [request: HttpRequestInfo];
  /** An HTTP request was answered. */
  http_response: [response: HttpResponseInfo];
  /** An event was recorded after `closeAndFlush`, and is not delivered. */
  call_after_close: [event: Message];
  /** Every event recorded so far has been delivered or has failed. */
  drained: [];
  /** Plugins, by name, were registered. */
  register: [pluginNames: string[]];
  /** Plugins, by name, were removed. */
  deregister: [pluginNames: string[]];
}

/** Receives an emitter event. Its errors never reach the library. */
export type Listener<E extends keyof AnalyticsEvents> = (...args: AnalyticsEvents[E]) => unknown;

/** The emitter that every `Analytics` is. Unlike Node's, it never throws, even when nobody listens to `error`. */
export class AnalyticsEmitter {
  private readonly listeners = new EventEmitter().setMaxListeners(0);
  /** @internal */
  protected readonly userCode = new UserCodeCaller();

  /** Calls a listener each time an event happens. Anything but a function is ignored. */
  on<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    if (typeof listener === 'function') this.listeners.on(event, listener);
    return this;
  }

  /** Calls a listener the next time an event happens. */
  once<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    if (typeof listener === 'function') this.listeners.once(event, listener);
    return this;
  }

  /** Stops calling a listener, however it was added. */
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

  /** @internal Whether anybody listens to an event. */
  isHeard(event: keyof AnalyticsEvents): boolean {
    return this.listeners.listenerCount(event) > 0;
  }
}
