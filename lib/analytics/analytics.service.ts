import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

import { keepAliveHttpClient } from '../client/index.js';
import { describe } from '../common/error.util.js';
import {
  IN_PROCESS_INGEST,
  type InProcessIngest,
  type InProcessProducer,
} from '../webhook-destination/ingest/in-process-ingest.interface.js';
import type { AnalyticsModuleOptions } from './analytics-module-options.interface.js';
import { AmbientAnalytics } from './context/ambient.analytics.js';
import { DeferredHttpClient } from './deferred.http-client.js';
import { InProcessHttpClient } from './in-process.http-client.js';

const DEFAULT_SHUTDOWN_TIMEOUT = 10_000;

/**
 * `Analytics` as a provider: fills in who events are about and their context, delivers what is queued before the application ends,
 * and logs what it cannot deliver.
 */
@Injectable()
export class AnalyticsService
  extends AmbientAnalytics
  implements InProcessProducer, OnModuleInit, OnApplicationShutdown
{
  private readonly logger = new Logger('AnalyticsService');
  private readonly deferred: DeferredHttpClient;
  private drained: Promise<void> | undefined;
  private undelivered = 0;

  constructor(
    private readonly options: AnalyticsModuleOptions,
    private readonly moduleRef: ModuleRef,
  ) {
    const deferred = new DeferredHttpClient();
    super({ ...options, httpClient: options.httpClient ?? deferred }, options);
    this.deferred = deferred;
    this.on('error', ({ reason }) => this.reportUndelivered(reason));
    this.on('call_after_close', () => this.reportUndelivered('recorded after the shutdown'));
  }

  /** @internal */
  onModuleInit(): void {
    this.connect();
  }

  /** @internal */
  onApplicationShutdown(): Promise<void> {
    return this.drain();
  }

  /** @internal Closes, and delivers what is queued; the second call waits for the first. */
  drain(): Promise<void> {
    this.connect();
    this.drained ??= this.closeAndFlush({ timeout: this.options.shutdownTimeout ?? DEFAULT_SHUTDOWN_TIMEOUT });
    return this.drained;
  }

  /** Without a host of its own, an instance hands its events to the relay in the same application that knows its key. */
  private connect(): void {
    const { host, httpClient, writeKey } = this.options;
    const ingest = host === undefined && httpClient === undefined ? this.findIngest() : undefined;
    const isInProcess = ingest?.attach(writeKey, this) ?? false;
    this.deferred.use(isInProcess ? new InProcessHttpClient(ingest!, writeKey) : keepAliveHttpClient());
  }

  private findIngest(): InProcessIngest | undefined {
    try {
      return this.moduleRef.get<InProcessIngest>(IN_PROCESS_INGEST, { strict: false });
    } catch {
      return undefined;
    }
  }

  /** Events of one batch fail together: one line tells of all. */
  private reportUndelivered(reason: unknown): void {
    if (this.undelivered++ > 0) return;
    queueMicrotask(() => {
      this.logger.error(`Events not delivered: ${this.undelivered} (${describe(reason)})`);
      this.undelivered = 0;
    });
  }
}
