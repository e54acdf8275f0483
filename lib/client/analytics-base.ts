import type { AnalyticsSettings } from './analytics-settings.interface.js';
import type { BatchTransport } from './delivery/batch-transport.interface.js';
import { EventQueue } from './delivery/event.queue.js';
import { HttpTransport } from './delivery/http.transport.js';
import { AnalyticsEmitter } from './event/analytics.emitter.js';
import { Context } from './event/context.js';
import { EventLedger } from './event/event.ledger.js';
import type { Callback, EventSink } from './event/pending-event.interface.js';
import { createMessage } from './message/message.factory.js';
import type { MessageType } from './message/message.interface.js';
import type { AnalyticsClient } from './pipeline/analytics-client.interface.js';
import type { Plugin } from './pipeline/plugin.interface.js';
import { PluginPipeline } from './pipeline/plugin.pipeline.js';
import { RelayError } from './relay.error.js';
import { resolveSettings } from './settings.rules.js';
import type { ClientTelemetry } from './telemetry/client-telemetry.interface.js';
import { activeTrace } from './telemetry/trace-context.js';
import { MAX_TIMER_DELAY } from './timer.limits.js';
import { VERSION } from './version.js';

/** Options of {@link AnalyticsBase.closeAndFlush}. */
export interface CloseAndFlushParams {
  /**
   * Milliseconds after which the promise is fulfilled in any case; 0 sets no limit.
   *
   * @default no limit
   */
  timeout?: number | undefined;
}

/** Options of {@link AnalyticsBase.flush}. */
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

/** That of a client that is switched off: every event counts as delivered. */
const NO_TRANSPORT: BatchTransport = { envelopeBytes: 0, send: () => Promise.resolve(undefined) };

/** @internal Makes what delivers the events of a client, in place of batches over HTTP. */
export type EventSinkFactory = (ledger: EventLedger) => EventSink;

/** What `Analytics` and `AnalyticsService` have in common: all but the methods that record an event. */
export abstract class AnalyticsBase extends AnalyticsEmitter {
  /** Fulfilled when the plugins of the settings are loaded; rejected when a critical one failed to load. */
  readonly ready: Promise<void>;
  private readonly ledger: EventLedger;
  private readonly http: BatchTransport;
  private readonly queue: EventQueue;
  private readonly sink: EventSink;
  private readonly pipeline: PluginPipeline;
  private readonly maxQueueSize: number;
  private readonly isDisabled: boolean;
  private readonly telemetry: ClientTelemetry | undefined;
  private isClosed = false;

  /** @internal */
  protected constructor(settings: AnalyticsSettings, createSink?: EventSinkFactory) {
    super();
    const { writeKey, telemetry, ...given } = resolveSettings(settings);
    const resolved = { ...given, telemetry: telemetry?.follow?.(this) ?? telemetry };
    this.maxQueueSize = resolved.maxQueueSize;
    this.isDisabled = resolved.disable;
    this.telemetry = resolved.telemetry;
    this.ledger = new EventLedger(this, this.userCode);
    this.http = new HttpTransport(resolved, writeKey, this);
    this.queue = new EventQueue(resolved, this.ledger);
    this.sink = createSink?.(this.ledger) ?? this.queue;
    this.pipeline = new PluginPipeline(
      this as unknown as AnalyticsClient,
      this.sink,
      this.ledger,
      resolved.httpRequestTimeout,
    );
    // Code written for other clients detaches the methods from the instance.
    for (const name of METHODS) {
      const method = Reflect.get(this, name) as () => unknown;
      Object.defineProperty(this, name, { value: method.bind(this), writable: true });
    }
    this.ready = this.register(...resolved.plugins);
  }

  /** Version of this library, as sent in `context.library`. */
  get VERSION(): string {
    return VERSION;
  }

  /** Accepted events without an outcome yet. */
  get pendingCount(): number {
    return this.ledger.pendingCount;
  }

  /**
   * Sends all events recorded so far without waiting for a full batch or the interval.
   * The promise is fulfilled when each of them has been delivered or has failed, and their callbacks,
   * with the promises these returned, have ended. It never rejects. Events that an `AnalyticsService` records before its
   * application has started wait for the start.
   *
   * With `timeout`, it is fulfilled when the timeout expires. Events in flight are then aborted and fail with a
   * `RelayError` with the code `flush_timeout`; waiting events are sent later, or fail too when `close` is set.
   */
  async flush({ timeout, close = false }: FlushParams = {}): Promise<void> {
    if (close) this.isClosed = true;
    const group = this.ledger.closeGroup();
    this.sink.flush();
    if (!timeout) return group.done;
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(timeout, MAX_TIMER_DELAY));
    }).then(() => {
      const message = `The event was not delivered within the flush timeout of ${timeout} ms`;
      const reason = new RelayError('flush_timeout', message);
      if (!close) return this.sink.abort(group, reason);
      this.sink.abortAll(reason);
      this.pipeline.abortAll(reason);
    });
    await Promise.race([group.done, expired]);
    clearTimeout(timer);
  }

  /**
   * Accepts no further events, and flushes those recorded so far, as {@link flush} does.
   * A later event is emitted as `call_after_close`, and its callback is not called.
   */
  closeAndFlush({ timeout }: CloseAndFlushParams = {}): Promise<void> {
    return this.flush({ timeout, close: true });
  }

  /**
   * Adds plugins. The promise is fulfilled when they are loaded; it rejects with an {@link OptionsError} for an invalid
   * plugin, and when a critical plugin fails to load.
   */
  register(...plugins: Plugin[]): Promise<void> {
    const registered = this.pipeline.register(plugins);
    // Each event fails with the same error, so the promise may be ignored.
    registered.catch(() => undefined);
    return registered;
  }

  /** Unloads and removes the plugins of these names; others are ignored. */
  deregister(...pluginNames: string[]): Promise<void> {
    return this.pipeline.deregister(pluginNames);
  }

  /** @internal Sends events from now on, over HTTP or by another transport; until the first call, they wait. */
  protected startDelivery(transport = this.http, flushInterval?: number): void {
    this.queue.start(this.isDisabled ? NO_TRANSPORT : transport, flushInterval);
  }

  /**
   * @internal
   * @param refusal Why the event is not delivered although it is valid.
   * @param recordedBy The method or route that records it.
   */
  protected record(
    type: MessageType,
    params: unknown,
    callback: Callback | undefined,
    refusal?: Error,
    recordedBy?: string,
  ): void {
    const trace = this.telemetry?.create?.(type) ?? activeTrace();
    const message = createMessage(type, params, trace, recordedBy);
    if (this.isClosed) {
      this.emit('call_after_close', message);
      return;
    }
    let json: string;
    try {
      if (this.pendingCount >= this.maxQueueSize) {
        throw new RelayError('queue_full', `The queue is full: it holds ${this.maxQueueSize} events`);
      }
      if (refusal) throw refusal;
      json = JSON.stringify(message);
    } catch (reason) {
      const refused = this.ledger.open(type, '', callback);
      refused.context = new Context(message);
      return this.ledger.endLater(refused, reason);
    }
    const event = this.ledger.open(type, json, callback, trace);
    if (this.pipeline.isEmpty) this.sink.add(event);
    else void this.pipeline.process(event);
  }
}
