import type { AnalyticsSettings } from './analytics-settings.interface.js';
import type { BatchTransport } from './delivery/batch-transport.interface.js';
import { EventQueue } from './delivery/event.queue.js';
import { statusOf } from './delivery/http-status.util.js';
import { HttpTransport } from './delivery/http.transport.js';
import { errorMessage, fetchErrorMessage } from './error.util.js';
import { AnalyticsEmitter } from './event/analytics.emitter.js';
import { Context } from './event/context.js';
import { EventLedger } from './event/event.ledger.js';
import { LossReporter } from './event/loss.reporter.js';
import type { BoundCallback, EventSink, EventTransaction } from './event/pending-event.interface.js';
import { type Additions, completeMessage, createMessage } from './message/message.factory.js';
import { MESSAGE_TYPES, type MessageType } from './message/message.interface.js';
import { SerializedMessage } from './message/serialized-message.js';
import type { AnalyticsClient } from './pipeline/analytics-client.interface.js';
import type { Plugin } from './pipeline/plugin.interface.js';
import { PluginPipeline } from './pipeline/plugin.pipeline.js';
import { RelayError } from './relay.error.js';
import { resolveSettings } from './settings.rules.js';
import { activeTrace } from './telemetry/trace-context.js';
import { MAX_TIMER_DELAY } from './timer.limits.js';
import { VERSION } from './version.js';

/** Options of {@link AnalyticsBase.closeAndFlush}. */
export interface CloseAndFlushParams {
  /**
   * Milliseconds after which the promise is fulfilled even if events are still pending; 0 sets no limit.
   *
   * @default no limit
   */
  timeout?: number | undefined;
}

/** Options of {@link AnalyticsBase.flush}. */
export interface FlushParams extends CloseAndFlushParams {
  /**
   * Whether to stop accepting events.
   *
   * @default false
   */
  close?: boolean | undefined;
}

const METHODS = [
  ...MESSAGE_TYPES,
  ...(['flush', 'closeAndFlush', 'register', 'deregister', 'on', 'once', 'off', 'emit'] as const),
];

/** Transport of a disabled client: every event counts as delivered. */
const NO_TRANSPORT: BatchTransport = { envelopeBytes: 0, send: () => Promise.resolve({}) };

/** @internal What is known of an event besides its message. */
export interface RecordExtras extends Pick<Additions, 'facts' | 'context' | 'isByField'> {
  /** Reason for not delivering the event although it is valid. */
  refusal?: Error | undefined;
  /** The method or route that records the event. */
  recordedBy?: string | undefined;
  /** The transaction that the event takes part in. */
  transaction?: EventTransaction | undefined;
}

const NO_EXTRAS: RecordExtras = {};

/** Stands for a message that JSON cannot represent. */
const UNREADABLE = new SerializedMessage('');

/** @internal Creates the sink that delivers a client's events in place of batches over HTTP. */
export type EventSinkFactory = (ledger: EventLedger) => EventSink;

/** Base class of `Analytics` and `AnalyticsService`: everything except the methods that record events. */
export abstract class AnalyticsBase extends AnalyticsEmitter {
  /** Fulfilled when the plugins in the settings have loaded; rejected when a critical plugin fails to load. */
  readonly ready: Promise<void>;
  private readonly losses: LossReporter;
  private readonly ledger: EventLedger;
  private readonly http: BatchTransport;
  private readonly queue: EventQueue;
  private readonly sink: EventSink;
  private readonly pipeline: PluginPipeline;
  /** All but the write key, so inspecting the client never shows it. */
  private readonly resolved: Omit<ReturnType<typeof resolveSettings>, 'writeKey'>;
  private isClosed = false;

  /** @internal */
  protected constructor(settings: AnalyticsSettings, createSink?: EventSinkFactory) {
    super();
    const { writeKey, ...resolved } = resolveSettings(settings);
    const { telemetry, disable } = resolved;
    resolved.telemetry = disable ? undefined : (telemetry?.follow?.(this) ?? telemetry); // nothing is sent
    this.resolved = resolved;
    this.losses = new LossReporter(this, (count, reason) => this.describeUndelivered(count, reason));
    this.ledger = new EventLedger(this, this.userCode, this.losses);
    this.http = new HttpTransport(resolved, writeKey, this);
    this.queue = new EventQueue(resolved, this.ledger);
    this.sink = createSink?.(this.ledger) ?? this.queue;
    this.pipeline = new PluginPipeline(this as unknown as AnalyticsClient, this.sink, this.ledger, resolved);
    // Code written for other clients detaches the methods from the instance, and wraps or overrides them.
    for (const name of METHODS) {
      const method = Reflect.get(this, name) as () => unknown;
      Object.defineProperty(this, name, { value: method.bind(this), configurable: true, writable: true });
    }
    this.ready = this.register(...resolved.plugins);
  }

  /** Version of this library, as sent in `context.library`. */
  get VERSION(): string {
    return VERSION;
  }

  /** Number of accepted events without an outcome yet. */
  get pendingCount(): number {
    return this.ledger.pendingCount;
  }

  /**
   * Sends all events recorded so far without waiting for a full batch or the interval. The promise is fulfilled when
   * every event has been delivered or has failed, and the promises returned by their callbacks have settled. It never
   * rejects. A callback may call it; from then on, no flush waits for that callback. Events that an `AnalyticsService`
   * records before its application starts are sent after the start; until then, the promise is fulfilled immediately.
   *
   * With `timeout`, the promise is fulfilled at the latest when the timeout expires. Events in flight are then aborted
   * and fail with a `RelayError` with the code `flush_timeout`. Waiting events are sent later, or also fail if `close`
   * is set.
   */
  async flush({ timeout, close = false }: FlushParams = {}): Promise<void> {
    if (close) this.isClosed = true;
    const group = this.ledger.closeGroup();
    this.sink.flush();
    if (!this.queue.isStarted) return; // The start may wait for this very promise, in a provider's factory.
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<void>((resolve) => {
      if (timeout) timer = setTimeout(resolve, Math.min(timeout, MAX_TIMER_DELAY));
    }).then(() => {
      const message = `The event was not delivered within the flush timeout of ${timeout} ms`;
      const reason = new RelayError('flush_timeout', message);
      if (!close) return this.sink.abort(group, reason);
      this.sink.abortAll(reason);
      this.pipeline.abortAll(reason);
    });
    await Promise.race([group.done, expired]);
    clearTimeout(timer);
    await this.losses.written; // The caller may end the process next.
  }

  /**
   * Stops accepting events and flushes those recorded so far, as {@link flush} does. An event recorded later is emitted
   * as `call_after_close`, and its callback is not called.
   */
  closeAndFlush({ timeout }: CloseAndFlushParams = {}): Promise<void> {
    return this.flush({ timeout, close: true });
  }

  /**
   * Adds plugins. The promise is fulfilled when they have loaded. It rejects with an {@link OptionsError} for an
   * invalid plugin, and with the plugin's error when a critical plugin fails to load. Both are reported by an `error`
   * event as well, so the promise may be ignored.
   */
  register(...plugins: Plugin[]): Promise<void> {
    const registered = this.pipeline.register(plugins);
    registered.catch(() => undefined);
    return registered;
  }

  /** Unloads and removes the plugins with these names. Unknown names are ignored. */
  deregister(...pluginNames: string[]): Promise<void> {
    return this.pipeline.deregister(pluginNames);
  }

  /** @internal Describes lost events in one line: how many, where they were to go, why they are lost, and what to do. */
  protected describeUndelivered(count: number, reason: unknown): string {
    const { endpoint } = this.sink;
    if (!endpoint) return `Events not delivered: ${count} (${errorMessage(reason)})`;
    const status = statusOf(reason);
    let remedy = '';
    if (status === 401) remedy = '. Set writeKey to the write key of one of its sources';
    if (status === 404 && endpoint.isDefault) remedy = '. host is not set: set it to the address of the relay';
    return `Events not delivered to ${endpoint.origin}: ${count} (${fetchErrorMessage(reason)})${remedy}`;
  }

  /** @internal Starts sending events, over HTTP or another transport. Events wait until the first call. */
  protected startDelivery(transport = this.http, flushInterval?: number): void {
    this.queue.start(this.resolved.disable ? NO_TRANSPORT : transport, flushInterval);
  }

  /** @internal */
  protected record(
    type: MessageType,
    params: unknown,
    callback: BoundCallback | undefined,
    { refusal, recordedBy, transaction, facts, context, isByField }: RecordExtras = NO_EXTRAS,
  ): void {
    const { telemetry, defaults } = this.resolved;
    const trace = telemetry?.create?.(type, this.queue.source) ?? activeTrace();
    const message = createMessage(type, params, recordedBy);
    let serialized = UNREADABLE;
    let reason: unknown = this.findFullness() ?? refusal;
    try {
      serialized = completeMessage(message, { defaults, trace, facts, context, isByField });
    } catch (error) {
      reason ??= error; // a later one, because such data may turn up in a single request in production
    }
    if (this.isClosed) {
      const closed = new RelayError('call_after_close', 'recorded after closeAndFlush');
      if (transaction) throw closed; // its caller waits for the outcome
      this.losses.report('call_after_close', closed);
      this.emit('call_after_close', new Context(message).event);
      return;
    }
    const event = this.ledger.open(type, serialized, callback, trace, transaction);
    if (reason !== undefined) {
      event.context = new Context(message);
      return this.ledger.endLater(event, reason);
    }
    if (this.pipeline.isEmpty) this.sink.add(event);
    else void this.pipeline.process(event);
  }

  private findFullness(): RelayError | undefined {
    const { maxQueueSize } = this.resolved;
    if (this.pendingCount < maxQueueSize) return undefined;
    return new RelayError('queue_full', `The queue is full: it holds ${maxQueueSize} events`);
  }
}
