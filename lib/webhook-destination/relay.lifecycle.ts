import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

import { errorMessage } from '../client/error.util.js';
import type { Concealed } from '../common/concealed.value.js';
import { LineLogger } from '../common/line.logger.js';
import { deferred } from '../common/promise.util.js';
import { ClosedError } from '../common/relay.errors.js';
import { checkBun } from '../common/peer.check.js';
import { type Connections, loadConnections } from './transport/transport.factory.js';
import { type DeliveryCount, isOpen } from './queue/delivery.interface.js';
import { RelaySteps } from './relay-steps.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';
import { CHECKED_OPTIONS } from './webhook-destination.tokens.js';

/** Starts and stops the steps of the relay with the application. */
@Injectable()
export class RelayLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new LineLogger('WebhookDestination');
  private connections!: Connections;
  private readonly opening = deferred<void>();
  private endMetrics: (() => void) | void = undefined;
  private queueOpened: Promise<void> | undefined;
  private registryOpened: Promise<void> | undefined;
  private stopped: Promise<void> | undefined;

  /** Fulfilled once the queue and the registry are open. Events that other providers record during startup wait for it. */
  readonly opened = this.opening.promise;

  constructor(
    @Inject(CHECKED_OPTIONS) private readonly options: Concealed<WebhookDestinationOptions>,
    private readonly steps: RelaySteps,
    private readonly moduleRef: ModuleRef,
  ) {
    steps.opened = () => this.open();
    steps.registry.onNeeded = () => void this.open().catch(() => undefined); // the caller gets the error
  }

  async onModuleInit(): Promise<void> {
    checkBun();
    if (this.options.reveal().mode !== 'ingest') {
      this.connections = await loadConnections(this.options.reveal().delivery, this.moduleRef);
    }
    await this.steps.api?.mountDeletion(this.moduleRef);
    this.queueOpened = this.steps.queue.open();
    // A global module comes first, and the application's registry may depend on the `onModuleInit` of other modules.
    if (typeof this.options.reveal().registry === 'object') await this.queueOpened;
    else await this.open();
    this.steps.ingest?.open();
  }

  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.open();
      await this.steps.api?.open();
      await this.steps.portal?.open();
    } catch (error) {
      await this.onApplicationShutdown(); // the open queue would keep the process alive
      throw error;
    }
    if (this.options.reveal().mode === 'ingest') return;
    this.steps.dispatcher.follow();
    this.steps.dispatcher.start(this.connections, await this.count());
  }

  /** Called before the server closes. */
  onModuleDestroy(): void {
    this.opening.reject(new ClosedError('the application closed before its queue was open'));
    this.steps.ingest?.close();
    this.steps.api?.endStreams();
  }

  onApplicationShutdown(): Promise<void> {
    this.stopped ??= this.stop();
    return this.stopped;
  }

  /** Opens the registry once the queue is open, which begins with {@link onModuleInit}. */
  open(): Promise<void> {
    if (this.queueOpened) this.opening.resolve((this.registryOpened ??= this.openRegistry(this.queueOpened)));
    return this.opened;
  }

  private async openRegistry(queueOpened: Promise<void>): Promise<void> {
    await queueOpened;
    try {
      await this.steps.registry.open(this.moduleRef);
      this.endMetrics = this.steps.observeMetrics();
    } catch (error) {
      this.steps.registry.close();
      await this.steps.queue.close(); // the open queue would keep the process alive
      throw error;
    }
  }

  private async stop(): Promise<void> {
    await Promise.all([...this.steps.producers].map((producer) => producer.drain()));
    this.steps.registry.close();
    await this.steps.dispatcher.stop();
    await this.steps.endpoints?.close();
    await this.steps.operator?.close();
    await this.steps.api?.close();
    this.steps.portal?.close();
    this.steps.portalLinks?.close();
    await Promise.all([this.steps.activity.close(), this.steps.receipts.close()]);
    await this.reportQueued().catch(() => undefined); // the queue has logged why it cannot be read
    this.endMetrics?.(); // a closed queue has no figures
    await this.steps.queue.close();
    this.steps.audit.close();
  }

  /** Warns of deliveries left in an embedded queue, which are not delivered until the next start. */
  private async reportQueued(): Promise<void> {
    if (this.options.reveal().queue.isShared) return;
    const open = (await this.steps.queue.counts()).filter(isOpen);
    const count = open.reduce((sum, row) => sum + row.count, 0);
    if (count === 0) return;
    const fault = await this.steps.queue.check().then(() => undefined, errorMessage);
    if (fault !== undefined) return this.logger.error(`Deliveries still queued: ${count}. They may be lost: ${fault}`);
    this.logger.warn(
      `Deliveries still queued: ${count}. They are sent after the next start, unless the queue is in memory`,
    );
  }

  /**
   * Warns of deliveries to destinations that are not enabled. Resolves with the queue's counts; undefined if they
   * cannot be read.
   */
  private async count(): Promise<DeliveryCount[] | undefined> {
    const served = this.steps.dispatcher.servedNames;
    try {
      const counts = await this.steps.queue.counts([...served]);
      for (const { destination, count } of counts.filter(isOpen)) {
        if (served.has(destination)) continue;
        const line = `Destination "${destination}" is disabled or no longer declared, but has queued deliveries: ${count}`;
        this.logger.warn(`${line}. Declare and enable it to send them`, { destination });
      }
      return counts;
    } catch (error) {
      this.logger.warn(`Deliveries to disabled or undeclared destinations cannot be counted: ${errorMessage(error)}`);
      return undefined;
    }
  }
}
