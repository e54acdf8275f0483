import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

import {
  type Callback,
  keepAliveHttpClient,
  type MessageType,
  type TrackParams,
  ValidationError,
} from '../client/index.js';
import { DEFAULT_HOST } from '../client/settings.rules.js';
import { errorMessage } from '../common/error.util.js';
import { LimitedLogger } from '../common/limited.logger.js';
import { LineLogger } from '../common/line.logger.js';
import {
  IN_PROCESS_INGEST,
  type InProcessIngest,
  type InProcessProducer,
} from '../webhook-destination/ingest/in-process-ingest.interface.js';
import type { CheckedAnalyticsOptions } from './analytics.options.js';
import { AmbientAnalytics } from './context/ambient.analytics.js';
import { DeferredHttpClient } from './deferred.http-client.js';
import { InProcessHttpClient } from './in-process.http-client.js';
import { DEFAULT_INSTANCE } from './instance.options.js';
import { PlanEnforcer } from './tracking-plan/plan.enforcer.js';
import { definitionOf } from './tracking-plan/tracked-event.decorator.js';
import type { EventName, PlannedTrackParams, TrackEventFields } from './tracking-plan/tracking-plan.interface.js';

/**
 * How long events wait in memory, in ms, before they go over to the relay in the same application. Batches save requests;
 * in process there are none, and a crash loses the events still waiting.
 */
const IN_PROCESS_FLUSH_INTERVAL = 0;

/**
 * `Analytics` as a provider: fills in who events are about and their context, delivers what is queued before the application ends,
 * and logs what it cannot deliver.
 */
@Injectable()
export class AnalyticsService
  extends AmbientAnalytics
  implements InProcessProducer, OnModuleInit, OnApplicationShutdown
{
  private readonly logger = new LineLogger('AnalyticsService');
  private readonly pluginFaults = new LimitedLogger('AnalyticsService');
  readonly #options: CheckedAnalyticsOptions;
  private readonly deferred: DeferredHttpClient;
  private readonly plan: PlanEnforcer;
  private isConnected = false;
  private drained: Promise<void> | undefined;
  private undelivered = 0;

  constructor(
    options: CheckedAnalyticsOptions,
    private readonly moduleRef: ModuleRef,
  ) {
    const deferred = new DeferredHttpClient();
    super({ ...options, httpClient: options.httpClient ?? deferred }, options);
    this.#options = options;
    this.deferred = deferred;
    this.plan = new PlanEnforcer(options.trackingPlan, this.logger);
    this.on('error', ({ code, reason }) => {
      if (code === 'delivery_failure') this.reportUndelivered(reason);
      else this.pluginFaults.once(`A plugin failed: ${errorMessage(reason)}`);
    });
    this.on('call_after_close', () => this.reportUndelivered('recorded after the shutdown'));
  }

  /**
   * Records what a user did (§2.2). Where the application has a `TrackingPlan`, its types know the event's properties;
   * where the option `trackingPlan` has a class of this event, they are checked.
   */
  override track<E extends EventName>(message: PlannedTrackParams<E>, callback?: Callback): void {
    super.track(message, callback);
  }

  /**
   * Records an event that is an instance of its class: one with `@TrackedEvent`, or made by `defineEvent`.
   * Its fields are the properties; they are checked.
   *
   * @throws {ValidationError} for an object of any other class.
   */
  trackEvent(event: object, fields: TrackEventFields = {}, callback?: Callback): void {
    const definition = definitionOf((event as object | undefined)?.constructor);
    if (!definition) {
      const message = 'event must be an instance of a class with @TrackedEvent, or made by defineEvent';
      throw new ValidationError({ field: 'event', code: 'event_not_tracked_event', message });
    }
    super.track({ ...fields, event: definition.name, properties: event }, callback);
  }

  /** @internal */
  onModuleInit(): void {
    this.connect();
  }

  /** @internal */
  onApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  /** @internal Every message comes here; a track event is recorded if the rules of its class let it. */
  protected override record(type: MessageType, message: unknown, callback?: Callback): void {
    super.record(type, message, callback, type === 'track' ? this.plan.judge(message as TrackParams) : undefined);
  }

  /** @internal Closes, and delivers what is queued; the second call waits for the first. */
  drain(): Promise<void> {
    this.connect();
    this.plan.report();
    this.drained ??= this.closeAndFlush({ timeout: this.#options.shutdownTimeout });
    return this.drained;
  }

  /** Chooses where events go, once the application's modules are there. */
  private connect(): void {
    if (this.isConnected) return;
    this.isConnected = true;
    const { host, httpClient, flushInterval, writeKey } = this.#options;
    const ingests = host == null && httpClient == null ? this.findIngests() : [];
    const ingest = ingests.find((candidate) => candidate.attach(writeKey, this));
    if (ingest) {
      this.deferred.use(new InProcessHttpClient(ingest, writeKey));
      if (flushInterval == null) this.flushWithin(IN_PROCESS_FLUSH_INTERVAL);
      return;
    }
    if (ingests.length > 0) this.warnOfUnknownKey(ingests.flatMap(({ sourceNames }) => sourceNames));
    this.deferred.use(keepAliveHttpClient());
  }

  /** The relays in the same application: one for each `WebhookDestinationModule`. */
  private findIngests(): InProcessIngest[] {
    try {
      return this.moduleRef.get<InProcessIngest>(IN_PROCESS_INGEST, { strict: false, each: true });
    } catch {
      return [];
    }
  }

  private warnOfUnknownKey(sources: string[]): void {
    const { name, disable } = this.#options;
    if (disable) return;
    const subject = name === DEFAULT_INSTANCE ? '' : `AnalyticsModule ${JSON.stringify(name)}: `;
    this.logger.warn(
      `${subject}No source of WebhookDestinationModule has this writeKey (sources: ${sources.join(', ')}), so events are ` +
        `sent to ${DEFAULT_HOST}. Use the writeKey of one of these sources, or set host`,
    );
  }

  /** Events of one batch fail together: one line tells of all. */
  private reportUndelivered(reason: unknown): void {
    if (PlanEnforcer.isViolation(reason)) return;
    if (this.undelivered++ > 0) return;
    queueMicrotask(() => {
      this.logger.error(`Events not delivered: ${this.undelivered} (${errorMessage(reason)})`);
      this.undelivered = 0;
    });
  }
}
