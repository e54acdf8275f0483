import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

import { AnalyticsBase, type EventSinkFactory } from '../client/analytics-base.js';
import { errorMessage } from '../client/error.util.js';
import {
  type AliasParams,
  type Callback,
  type GroupParams,
  type IdentifyParams,
  keepAliveHttpClient,
  type KeepAliveHTTPClient,
  type MessageType,
  type PageParams,
  RelayError,
  type ScreenParams,
  type TrackParams,
  ValidationError,
} from '../client/index.js';
import { isCancelled } from '../client/event/context.js';
import { bindCallback } from '../client/event/user-code.caller.js';
import { DEFAULT_HOST } from '../client/settings.rules.js';
import { ClientMetrics } from '../common/telemetry/client-metrics.js';
import { Concealed } from '../common/concealed.value.js';
import { definitionOf, type EventClass } from '../common/event-class/event-definition.js';
import { LimitedLogger } from '../common/limited.logger.js';
import { OptionsError } from '../common/options.error.js';
import { findProviders } from '../common/application-modules.util.js';
import { IN_PROCESS_INGEST, type InProcessIngest } from '../webhook-destination/ingest/in-process-ingest.interface.js';
import type { CheckedAnalyticsOptions } from './analytics.options.js';
import type { AmbientParams } from './context/ambient-params.interface.js';
import { currentRecorder, scopeOfCall } from './context/context-scope.js';
import { isAboutNobody, MessageCompleter, readMessage } from './context/message.completer.js';
import { InProcessTransport } from './in-process.transport.js';
import { DEFAULT_INSTANCE } from './instance.options.js';
import { PlanEnforcer } from './tracking-plan/plan.enforcer.js';
import { AnalyticsTransaction } from './analytics-transaction.js';
import { TransactionRecorder, TRANSACTIONAL_RELAY } from './transaction.recorder.js';
import type { EventName, PlannedTrackParams, TrackEventFields } from './tracking-plan/tracking-plan.interface.js';

/**
 * Flush interval, in ms, for the relay in the same application. Without HTTP, waiting for a full batch saves nothing, and
 * a crash loses the waiting events.
 */
const IN_PROCESS_FLUSH_INTERVAL = 0;

const AFTER_REQUEST =
  '. The HTTP request in whose async context the code runs has ended, so its user is not used. If a pool or queue calls ' +
  'this code, wrap the callback in AsyncResource.bind; if it is work that goes on after the response, use ' +
  'AnalyticsContext.run({ userId }, ...)';

/**
 * `Analytics` as a provider: completes messages with the ambient identity and context, delivers queued events before
 * the application closes, and logs undelivered events.
 */
@Injectable()
export class AnalyticsService extends AnalyticsBase implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new LimitedLogger('AnalyticsService');
  private readonly options: Concealed<CheckedAnalyticsOptions>;
  private readonly completer: MessageCompleter;
  private readonly plan: PlanEnforcer;
  private isConnected: boolean;
  /** The relay in this process that events go to. Only then do they carry the method or route that recorded them. */
  private ingest: InProcessIngest | undefined;
  private readonly transactions: TransactionRecorder;
  private drained: Promise<void> | undefined;
  private undelivered = 0;
  private lost = 0;
  private readonly metrics: ClientMetrics;
  private readonly ownClient: KeepAliveHTTPClient;

  /** @internal */
  constructor(
    options: CheckedAnalyticsOptions,
    private readonly moduleRef: ModuleRef,
    private readonly createSink?: EventSinkFactory,
    private readonly onRolledBack?: (tx: object) => void,
  ) {
    const metrics = ClientMetrics.ofProcess();
    const { telemetry } = options;
    const ownClient = keepAliveHttpClient();
    super(
      {
        ...options,
        httpClient: options.httpClient ?? ownClient,
        telemetry: {
          follow: (client) => metrics.follow(client, telemetry?.follow?.(client) ?? telemetry),
          send: (_batch, send) => send(),
        },
      },
      createSink,
    );
    this.metrics = metrics;
    this.ownClient = ownClient;
    telemetry?.observe?.(metrics.all);
    this.options = new Concealed(options);
    const { identity, anonymous, context } = options; // without the write key, so that inspection never shows it
    this.completer = new MessageCompleter({ identity, anonymous, context });
    this.plan = new PlanEnforcer(options.trackingPlan, this.logger);
    this.transactions = new TransactionRecorder(this.options, () => this.ingest);
    this.on('error', ({ code, reason, ctx }) => {
      if (isCancelled(ctx, reason)) return;
      if (code === 'delivery_failure') this.reportUndelivered(reason);
      else this.logger.once(`A plugin failed: ${errorMessage(reason)}`);
    });
    this.on('call_after_close', () =>
      this.reportUndelivered(new RelayError('call_after_close', 'recorded after shutdown')),
    );
    // Otherwise the application's modules determine where events are sent, once they exist.
    this.isConnected = createSink !== undefined || options.httpClient != null;
    if (this.isConnected || options.disable) this.startDelivery();
  }

  /** Records who a user is, with their traits. */
  identify(message: AmbientParams<IdentifyParams>, callback?: Callback): void {
    this.recordComplete('identify', message, callback);
  }

  /**
   * Records what a user did. A `TrackingPlan` types the event's properties; a class of the event in the option
   * `trackingPlan` checks them.
   */
  track<E extends EventName>(message: PlannedTrackParams<E>, callback?: Callback): void {
    this.recordComplete('track', message, callback);
  }

  /**
   * Records an instance of an event class: a class with `@TrackedEvent`, or one made by `defineEvent`. The instance's
   * fields are the event's properties, and are checked.
   *
   * @throws {ValidationError} if the object's class is not an event class.
   */
  trackEvent(event: object, fields: TrackEventFields = {}, callback?: Callback): void {
    const definition = definitionOf((event as object | undefined)?.constructor);
    if (!definition) {
      const message = 'event must be an instance of a class with @TrackedEvent, or made by defineEvent';
      const error = new ValidationError({ field: 'event', code: 'event_not_tracked_event', message });
      return this.refuse('track', fields, error, bindCallback(callback));
    }
    this.recordComplete('track', fields, callback, { event: definition.name, properties: event });
  }

  /** Records that a user saw a page. */
  page(message: AmbientParams<PageParams>, callback?: Callback): void {
    this.recordComplete('page', message, callback);
  }

  /** Records that a user saw a screen of an app. */
  screen(message: AmbientParams<ScreenParams>, callback?: Callback): void {
    this.recordComplete('screen', message, callback);
  }

  /** Records that a user belongs to a group. */
  group(message: AmbientParams<GroupParams>, callback?: Callback): void {
    this.recordComplete('group', message, callback);
  }

  /** Records that two ids belong to the same user. */
  alias(message: AmbientParams<AliasParams>, callback?: Callback): void {
    this.recordComplete('alias', message, callback);
  }

  /**
   * Returns the methods that record events in a transaction of the application: they are delivered if it commits. Needs
   * `postgresQueue()` in the same database.
   *
   * @param tx transaction of a package that docs/transactions.md names, or what the option `transactionRunner` takes
   * @throws {TransactionError} if there is none
   */
  inTransaction(tx: unknown): AnalyticsTransaction {
    return new AnalyticsTransaction(this, this.transactions.in(tx));
  }

  /** @internal Runs code that records events outside the transaction of its async context. */
  recordOutside(record: () => void): void {
    this.transactions.outside(record);
  }

  /** @internal Number of events not delivered, including those that the tracking plan refused. */
  get lostCount(): number {
    return this.lost;
  }

  /** @internal Event classes of the tracking plan. */
  get eventClasses(): readonly EventClass[] {
    return this.options.reveal().trackingPlan.events;
  }

  /** Selects where events are sent. Called by Nest. */
  async onModuleInit(): Promise<void> {
    this.connect();
    const { transactions, disable } = this.options.reveal();
    if (transactions === undefined) return;
    if (!this.createSink && !disable && !this.ingest?.joinsTransactions) {
      throw new OptionsError('AnalyticsModule', [`transactions needs ${TRANSACTIONAL_RELAY}`]);
    }
    await this.transactions.joinContext(this.moduleRef, this.onRolledBack);
  }

  /** Delivers queued events. Called by Nest. */
  onApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  /** @internal Closes the client and its connections, and delivers queued events. A second call waits for the first. */
  drain(): Promise<void> {
    this.connect();
    this.plan.report();
    this.drained ??= this.closeAndFlush({ timeout: this.options.reveal().shutdownTimeout }).then(() =>
      this.ownClient.close(),
    );
    return this.drained;
  }

  /** @param event fields that replace those of the message */
  private recordComplete(type: MessageType, message: unknown, callback: Callback | undefined, event?: object): void {
    const tx = this.transactions.ofContext;
    if (tx) {
      const record = (done: Callback) => this.recordComplete(type, message, done, event);
      return this.transactions.recordInContext(tx, record, callback);
    }
    const transaction = this.transactions.current;
    const recordedBy = this.ingest ? currentRecorder() : undefined;
    const bound = bindCallback(callback); // here, because the completed message is recorded outside the scope
    try {
      const given = event ? { ...readMessage(message), ...event } : message;
      this.completer.complete(type, given, (complete, ambient) => {
        const refusal = type === 'track' ? this.findViolation(complete as TrackParams) : undefined;
        const extras = { refusal, recordedBy, isByField: this.ingest !== undefined, ...ambient };
        this.record(type, complete, bound, { ...extras, transaction });
      });
    } catch (error) {
      this.refuse(type, message, error, bound);
    }
  }

  /** Throws the error of a message that breaks a rule, or logs it: see the option `onInvalid`. */
  private refuse(type: MessageType, message: unknown, error: unknown, callback: Callback | undefined): void {
    const { onInvalid, disable } = this.options.reveal();
    const { origin, isAfterRequest } = scopeOfCall();
    const isNobodyKnown = !origin?.response && isAboutNobody(type, message, error);
    if (PlanEnforcer.isViolation(error) || (onInvalid === 'throw' && !isNobodyKnown)) throw error;
    this.lost++;
    if (!disable) this.metrics.drop(error);
    const hint = isNobodyKnown && isAfterRequest ? AFTER_REQUEST : '';
    this.logger.once(`${currentRecorder() ?? type} was not recorded: ${errorMessage(error)}${hint}`);
    if (callback) queueMicrotask(() => void this.userCode.call(() => callback(error)));
  }

  /** Checks a track event. A violation that is thrown also counts as a lost event. */
  private findViolation(message: TrackParams): Error | undefined {
    try {
      return this.plan.check(message);
    } catch (error) {
      if (PlanEnforcer.isViolation(error)) {
        this.lost++;
        if (!this.options.reveal().disable) this.metrics.drop(error);
      }
      throw error;
    }
  }

  /** Selects where events are sent, once the application's modules exist. */
  private connect(): void {
    if (this.isConnected) return;
    this.isConnected = true;
    const { host, flushInterval, writeKey, release } = this.options.reveal();
    const ingests = host == null ? findProviders<InProcessIngest>(this.moduleRef, IN_PROCESS_INGEST) : [];
    const ingest = ingests.find((candidate) => candidate.attach(writeKey, this));
    if (ingest) {
      this.ingest = ingest;
      const transport = new InProcessTransport(ingest, writeKey, release);
      return this.startDelivery(transport, flushInterval == null ? IN_PROCESS_FLUSH_INTERVAL : undefined);
    }
    if (ingests.length > 0) this.warnOfUnknownKey(ingests.flatMap(({ sourceNames }) => sourceNames));
    this.startDelivery();
  }

  private warnOfUnknownKey(sources: string[]): void {
    const { name, disable } = this.options.reveal();
    if (disable) return;
    const subject = name === DEFAULT_INSTANCE ? '' : `AnalyticsModule ${JSON.stringify(name)}: `;
    this.logger.warn(
      `${subject}No source of WebhookDestinationModule has this writeKey (sources: ${sources.join(', ')}), so events are ` +
        `sent to ${DEFAULT_HOST}. Use the writeKey of one of these sources, or set host`,
    );
  }

  /** Counts an undelivered event. Logs one line for all events of a batch, because they fail together. */
  private reportUndelivered(reason: unknown): void {
    this.lost++;
    if (PlanEnforcer.isViolation(reason)) return;
    if (this.undelivered++ > 0) return;
    queueMicrotask(() => {
      this.logger.error(this.describeUndelivered(this.undelivered, reason));
      this.undelivered = 0;
    });
  }
}
