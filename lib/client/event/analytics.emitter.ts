import type { Message } from '../message/message.interface.js';
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
 * What each emitter event passes to its listeners.
 *
 * @see docs/specification.md, "Client events"
 */
export interface AnalyticsEvents {
  /** An event was not delivered, or a plugin failed. */
  error: [error: EmittedError];
  /** An identify message was delivered. */
  identify: [ctx: Context];
  /** A track message was delivered. */
  track: [ctx: Context];
  /** A page message was delivered. */
  page: [ctx: Context];
  /** A screen message was delivered. */
  screen: [ctx: Context];
  /** A group message was delivered. */
  group: [ctx: Context];
  /** An alias message was delivered. */
  alias: [ctx: Context];
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

interface Subscription {
  listener: (...args: never[]) => unknown;
  once: boolean;
}

/** The emitter that every `Analytics` is. Unlike Node's, it never throws, even when nobody listens to `error`. */
export class AnalyticsEmitter {
  private readonly subscriptions = new Map<keyof AnalyticsEvents, readonly Subscription[]>();
  /** @internal */
  protected readonly userCode = new UserCodeCaller();

  /** Calls a listener each time an event happens. */
  on<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    return this.subscribe(event, { listener, once: false });
  }

  /** Calls a listener the next time an event happens. */
  once<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    return this.subscribe(event, { listener, once: true });
  }

  /** Stops calling a listener, however it was added. */
  off<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this {
    return this.retain(event, (subscription) => subscription.listener !== listener);
  }

  /** Calls the listeners of an event, in the order in which they were added. */
  emit<E extends keyof AnalyticsEvents>(event: E, ...args: AnalyticsEvents[E]): this {
    for (const subscription of this.subscriptions.get(event) ?? []) {
      if (subscription.once) this.retain(event, (other) => other !== subscription);
      void this.userCode.call(() => (subscription.listener as Listener<E>)(...args));
    }
    return this;
  }

  /** @internal Whether anybody listens to an event. */
  isHeard(event: keyof AnalyticsEvents): boolean {
    return this.subscriptions.has(event);
  }

  private subscribe(event: keyof AnalyticsEvents, subscription: Subscription): this {
    // A new array each time, so that emit may go through the old one.
    this.subscriptions.set(event, [...(this.subscriptions.get(event) ?? []), subscription]);
    return this;
  }

  private retain(event: keyof AnalyticsEvents, keep: (subscription: Subscription) => boolean): this {
    const remaining = (this.subscriptions.get(event) ?? []).filter(keep);
    if (remaining.length > 0) this.subscriptions.set(event, remaining);
    else this.subscriptions.delete(event);
    return this;
  }
}
