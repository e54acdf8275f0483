import type { AnalyticsSettings } from './analytics-settings.interface.js';
import { BatchPublisher } from './delivery/batch.publisher.js';
import { EventLedger, type Callback } from './delivery/event.ledger.js';
import { EventQueue, type EventSink } from './delivery/event.queue.js';
import { createRequestWriter } from './delivery/request.writer.js';
import { createMessage } from './message/message.factory.js';
import type {
  AliasParams,
  GroupParams,
  IdentifyParams,
  Message,
  MessageType,
  PageParams,
  ScreenParams,
  TrackParams,
} from './message/message.interface.js';
import { AnalyticsEmitter } from './pipeline/analytics.emitter.js';
import { Context } from './pipeline/context.js';
import type { Plugin } from './pipeline/plugin.interface.js';
import { PluginPipeline } from './pipeline/plugin.pipeline.js';
import { type ResolvedSettings, resolveSettings } from './settings.rules.js';
import { MAX_TIMER_DELAY } from './timer.limits.js';
import { VERSION } from './version.js';

/** Options of {@link Analytics.closeAndFlush}. */
export interface CloseAndFlushParams {
  /**
   * Milliseconds after which the promise is resolved by force; 0 sets no limit.
   *
   * @default no limit
   */
  timeout?: number | undefined;
}

/** Options of {@link Analytics.flush}. */
export interface FlushParams extends CloseAndFlushParams {
  /**
   * Whether to accept no further events.
   *
   * @default false
   */
  close?: boolean | undefined;
}

const METHODS = [
  ...(['identify', 'track', 'page', 'screen', 'group', 'alias'] as const),
  ...(['flush', 'closeAndFlush', 'register', 'deregister', 'on', 'once', 'off', 'emit'] as const),
];

/**
 * Records events and sends them in batches to the collection service (§4.3).
 *
 * The methods that record an event return at once. They throw a {@link ValidationError} when the message breaks a rule
 * of §2.2; whatever goes wrong later is told to the callback and as an `error` event, and never thrown.
 * Every event ends in exactly one of: its callback without an error, its callback with one, `call_after_close`.
 */
export class Analytics extends AnalyticsEmitter {
  /** Fulfilled when the plugins of the settings are loaded; rejected when a critical one failed to load. */
  readonly ready: Promise<void>;
  private readonly ledger: EventLedger;
  private readonly queue: EventSink;
  private readonly pipeline: PluginPipeline;
  private readonly maxQueueSize: number;
  private isClosed = false;

  /** @throws {ValidationError} when a setting breaks a rule of §8; the error names both. */
  constructor(settings: AnalyticsSettings) {
    super();
    const resolved = resolveSettings(settings);
    this.maxQueueSize = resolved.maxQueueSize;
    this.ledger = new EventLedger(this, this.outside);
    this.queue = this.createQueue(resolved, this.ledger);
    this.pipeline = new PluginPipeline(this, this, this.queue, this.ledger, resolved.httpRequestTimeout);
    // Code written for other clients passes the methods around on their own.
    for (const name of METHODS) {
      Object.defineProperty(this, name, { value: (this[name] as () => unknown).bind(this), writable: true });
    }
    this.ready = this.register(...resolved.plugins);
  }

  /** Version of this library, as sent in `context.library`. */
  get VERSION(): string {
    return VERSION;
  }

  /** Events that have been accepted and have not ended. */
  get pendingCount(): number {
    return this.ledger.pendingCount;
  }

  /** Records who a user is and what is known of them (§2.2). */
  identify(message: IdentifyParams, callback?: Callback): void {
    this.record('identify', message, callback);
  }

  /** Records what a user did (§2.2). */
  track(message: TrackParams, callback?: Callback): void {
    this.record('track', message, callback);
  }

  /** Records that a user saw a page (§2.2). */
  page(message: PageParams, callback?: Callback): void {
    this.record('page', message, callback);
  }

  /** Records that a user saw a screen of an app. */
  screen(message: ScreenParams, callback?: Callback): void {
    this.record('screen', message, callback);
  }

  /** Records that a user belongs to a group (§2.2). */
  group(message: GroupParams, callback?: Callback): void {
    this.record('group', message, callback);
  }

  /** Records that two ids are of the same user (§2.2). */
  alias(message: AliasParams, callback?: Callback): void {
    this.record('alias', message, callback);
  }

  /**
   * Sends all events recorded so far without waiting for a full batch or the interval.
   * The promise is fulfilled when each of them has been delivered or has failed, and their callbacks,
   * with the promises these returned, have ended; it never rejects.
   *
   * With `timeout`, it is fulfilled by force after so many milliseconds. What is in flight by then is aborted and fails;
   * what still waits is sent later, or fails too when `close` is set.
   */
  async flush({ timeout, close = false }: FlushParams = {}): Promise<void> {
    if (close) this.isClosed = true;
    const group = this.ledger.closeGroup();
    this.queue.flush();
    if (!timeout) return group.done;
    let timer: NodeJS.Timeout | undefined;
    const force = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(timeout, MAX_TIMER_DELAY));
    }).then(() => {
      const reason = new Error(`The event was not delivered within the flush timeout of ${timeout} ms`);
      if (!close) return this.queue.abort(group, reason);
      this.queue.abortAll(reason);
      this.pipeline.abortAll(reason);
    });
    await Promise.race([group.done, force]);
    clearTimeout(timer);
  }

  /**
   * Accepts no further events, and flushes those recorded so far, as {@link flush} does.
   * An event recorded later is emitted as `call_after_close`, and its callback is not called.
   */
  closeAndFlush({ timeout }: CloseAndFlushParams = {}): Promise<void> {
    return this.flush({ timeout, close: true });
  }

  /**
   * Adds plugins (§4.4). The promise is fulfilled when they are loaded;
   * it rejects with a {@link ValidationError} for what is no plugin, and when a critical plugin fails to load.
   */
  register(...plugins: Plugin[]): Promise<void> {
    const registered = this.pipeline.register(plugins);
    // Who does not wait for the promise learns of the failure from each event's error.
    registered.catch(() => undefined);
    return registered;
  }

  /** Unloads and removes the plugins of these names; others are ignored. */
  deregister(...pluginNames: string[]): Promise<void> {
    return this.pipeline.deregister(pluginNames);
  }

  /** @internal Called once, by the constructor. */
  protected createQueue({ writeKey, ...settings }: ResolvedSettings, ledger: EventLedger): EventSink {
    return new EventQueue(settings, new BatchPublisher(settings, createRequestWriter(writeKey), this), ledger);
  }

  /** @internal As the setting `flushInterval`, for a subclass that learns later where its events go. */
  protected flushWithin(interval: number): void {
    this.queue.flushWithin(interval);
  }

  /** @internal @param refusal Why the event is not to be delivered, though it is well formed. */
  protected record(type: MessageType, params: unknown, callback: Callback | undefined, refusal?: Error): void {
    const message = createMessage(type, params);
    if (this.isClosed) {
      this.emit('call_after_close', message);
      return;
    }
    if (this.ledger.pendingCount >= this.maxQueueSize) {
      this.refuse(message, callback, new Error(`The queue is full: it holds ${this.maxQueueSize} events`));
      return;
    }
    if (refusal) {
      this.refuse(message, callback, refusal);
      return;
    }
    let json: string;
    try {
      json = JSON.stringify(message);
    } catch (error) {
      this.refuse(message, callback, error);
      return;
    }
    const event = this.ledger.open(type, json, callback);
    if (this.pipeline.isEmpty) this.queue.add(event);
    else void this.pipeline.process(event);
  }

  /** Ends an event that cannot be queued: in a moment, as callbacks never run within the call. */
  private refuse(message: Message, callback: Callback | undefined, reason: unknown): void {
    const event = this.ledger.open(message.type, '', callback);
    event.context = new Context(message);
    void Promise.resolve().then(() => this.ledger.settle(event, reason));
  }
}
