import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Observable } from 'rxjs';

import type { Concealed } from '../common/concealed.value.js';
import { errorMessage } from '../common/error.util.js';
import { LineLogger } from '../common/line.logger.js';
import { ArgumentError, ClosedError, UnknownWriteKeyError } from '../common/relay.errors.js';
import type { AuditEntry } from './admin/audit.log.js';
import type { DeletionRequest } from './admin/deletion-request.js';
import type { DeletionResult } from './admin/user-deletion.js';
import { checkBun } from './bun-version.util.js';
import type { DeliveryEvent } from './dispatch/delivery-event.js';
import { loadConnections, type PoolFactory } from './dispatch/transport.factory.js';
import { toJsonText } from './ingest/body.reader.js';
import type { InProcessProducer } from './ingest/in-process-ingest.interface.js';
import type { AcceptResult } from './ingest/ingest.result.js';
import { ParsedMessage } from './ingest/parsed-message.js';
import { readPostedBody } from './ingest/posted-body.js';
import type { Explanation } from './message.explainer.js';
import {
  type DeliveryCount,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryRecord,
  isOpen,
} from './queue/delivery-queue.interface.js';
import { type DeliveryPortion, type DeliverySearch, searchDeliveries } from './queue/delivery-search.js';
import type { DestinationManager } from './registry/destination.manager.js';
import type { SourceManager } from './registry/source.manager.js';
import { RelaySteps } from './relay-steps.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';
import { CHECKED_OPTIONS } from './webhook-destination.tokens.js';

/** Forwards messages of the application's sources to webhooks. */
@Injectable()
export class WebhookDestinationService
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  private readonly logger = new LineLogger('WebhookDestination');
  private readonly producers = new Set<InProcessProducer>();
  private createPool!: PoolFactory;
  private resolveOpened!: (opening: Promise<void>) => void;
  private rejectOpened!: (reason: Error) => void;
  /** Fulfilled once the queue is open. Events that other providers record during startup wait for it. */
  private readonly opened: Promise<void>;
  private stopped: Promise<void> | undefined;

  /** Emits the outcome of each delivery attempt; completes when the application closes. */
  readonly events$: Observable<DeliveryEvent>;

  /**
   * Emits refused sign-ins, and changes, deletions and replays made through the admin routes; completes when the
   * application closes.
   */
  readonly audit$: Observable<AuditEntry>;

  constructor(
    @Inject(CHECKED_OPTIONS) private readonly options: Concealed<WebhookDestinationOptions>,
    private readonly steps: RelaySteps,
    private readonly moduleRef: ModuleRef,
  ) {
    this.events$ = steps.dispatcher.events$;
    this.audit$ = steps.audit.entries$;
    this.opened = new Promise((resolve, reject) => {
      this.resolveOpened = resolve;
      this.rejectOpened = reject;
    });
    this.opened.catch(() => undefined); // prevents an unhandled rejection if nothing awaits it
  }

  /**
   * Accepts messages as `POST /v1/batch` does. Resolves once the valid messages are stored durably in the queue; the
   * result names the invalid ones. Rejects, with no message accepted, if no source has the write key or the queue
   * accepts no messages.
   *
   * @param sentAt when the sender posted the messages, by its own clock
   */
  async accept(writeKey: string, messages: unknown[], sentAt?: unknown): Promise<AcceptResult> {
    if (!Array.isArray(messages)) throw new ArgumentError('messages must be an array');
    const source = await this.sourceOf(writeKey);
    return this.steps.acceptor.accept(
      source,
      messages.map((message) => new ParsedMessage(message)),
      sentAt,
    );
  }

  /**
   * Removes the deliveries of up to 1,000 users from the queue, and queues a delete notification for each user and
   * affected source to each enabled destination of that source. Resolves once the notifications are stored durably and
   * the deliveries are removed. Rejects if either fails; the request must then be repeated.
   * Messages that identify the user only by `anonymousId` or `previousId` are not found.
   *
   * @throws {RelayError} naming the invalid field
   * @see docs/specification.md, "Deletion"
   */
  requestDeletion(request: DeletionRequest): Promise<DeletionResult> {
    return this.steps.deletion.request(request);
  }

  /** Returns the matching deliveries with their attempts, newest first. */
  deliveries(query: DeliveryQuery = {}, page?: DeliveryPage): Promise<DeliveryRecord[]> {
    return this.steps.queue.list(query, page);
  }

  /**
   * Returns the next matching deliveries, newest first, as far as they are found in a short time. A search that reads
   * many records returns its results in portions, and does not delay deliveries.
   */
  search(search: DeliverySearch = {}, page?: DeliveryPage): Promise<DeliveryPortion> {
    return searchDeliveries(this.steps.queue, search, page);
  }

  /**
   * Explains how a message would be handled, without sending it: whether it breaks a rule, which destinations would
   * receive it, why the others would not, and what would be sent, without secrets.
   *
   * @param message as for `accept`
   * @param source name of its source; by default the source of its `writeKey`, or else the only source
   * @throws {RelayError} `argument_invalid`
   */
  async explain(message: unknown, source?: string): Promise<Explanation> {
    await this.opened;
    return this.steps.explainer.explain(message, source);
  }

  /**
   * Resends dead deliveries: the one with this id, or all that match the query. Each gets a new retry window.
   * Resolves with the number of deliveries.
   */
  replay(idOrQuery: string | DeliveryQuery): Promise<number> {
    return this.steps.queue.replay(typeof idOrQuery === 'string' ? { id: idOrQuery } : idOrQuery);
  }

  /** Returns the number of deliveries for each destination and state. */
  stats(): Promise<DeliveryCount[]> {
    return this.steps.queue.counts();
  }

  /**
   * Manager of the destinations: those of the options, and those of the registry, which can be changed.
   * @see docs/destinations.md
   */
  get destinations(): DestinationManager {
    return this.steps.destinationManager;
  }

  /**
   * Manager of the sources: those of the options, and those of the registry, which can be changed.
   * @see docs/destinations.md
   */
  get sources(): SourceManager {
    return this.steps.sourceManager;
  }

  /** @internal */
  async acceptBatch(writeKey: string, json: string): Promise<AcceptResult> {
    const source = await this.sourceOf(writeKey);
    const { messages } = readPostedBody('batch', toJsonText(Buffer.from(json)));
    return this.steps.acceptor.accept(source, messages(), new Date()); // in process, sender and relay share a clock
  }

  /** @internal */
  get sourceNames(): string[] {
    return this.steps.sources.names;
  }

  /** @internal Number of events that in-process recording lost before they reached ingest. */
  get lostCount(): number {
    return [...this.producers].reduce((sum, { lostCount = 0 }) => sum + lostCount, 0);
  }

  /** @internal */
  sourceNameOf(writeKey: string): string | undefined {
    return this.steps.sources.find(writeKey);
  }

  /** @internal */
  attach(writeKey: string, producer: InProcessProducer): boolean {
    // The registry may have the key, which is known only once it is open.
    if (this.steps.sources.find(writeKey) === undefined && !this.options.reveal().registry) return false;
    this.producers.add(producer);
    return true;
  }

  async onModuleInit(): Promise<void> {
    checkBun();
    if (this.options.reveal().mode !== 'ingest') {
      this.createPool = await loadConnections(this.options.reveal().delivery, this.moduleRef);
    }
    await this.steps.api?.mountDeletion(this.moduleRef);
    this.resolveOpened(this.open());
    await this.opened;
    this.steps.ingest?.open();
  }

  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.steps.api?.open();
    } catch (error) {
      await this.onApplicationShutdown(); // the open queue would keep the process alive
      throw error;
    }
    if (this.options.reveal().mode === 'ingest') return;
    this.steps.dispatcher.follow();
    this.steps.dispatcher.start(this.createPool, await this.count());
  }

  /** Called before the server closes. */
  onModuleDestroy(): void {
    this.rejectOpened(new ClosedError('the application closed before its queue was open'));
    this.steps.ingest?.endpoint.close();
    this.steps.api?.endStreams();
  }

  onApplicationShutdown(): Promise<void> {
    this.stopped ??= this.stop();
    return this.stopped;
  }

  private async open(): Promise<void> {
    await this.steps.queue.open();
    try {
      await this.steps.registry.open(this.moduleRef);
      this.steps.startMetrics();
    } catch (error) {
      this.steps.registry.close();
      await this.steps.queue.close(); // the open queue would keep the process alive
      throw error;
    }
  }

  private async sourceOf(writeKey: unknown): Promise<string> {
    if (this.options.reveal().registry) await this.opened; // its sources are known only once it is open
    const source = this.find(writeKey);
    await this.opened;
    return source;
  }

  private find(writeKey: unknown): string {
    const source = typeof writeKey === 'string' ? this.steps.sources.find(writeKey) : undefined;
    if (source === undefined) throw new UnknownWriteKeyError();
    return source;
  }

  private async stop(): Promise<void> {
    await Promise.all([...this.producers].map((producer) => producer.drain()));
    this.steps.registry.close();
    await this.steps.dispatcher.stop();
    await this.steps.api?.close();
    await this.reportQueued().catch(() => undefined); // the queue has logged why it cannot be read
    this.steps.endMetrics();
    await this.steps.queue.close();
    this.steps.audit.close();
  }

  /** Warns of deliveries left in an embedded queue, which are not delivered until the next start. */
  private async reportQueued(): Promise<void> {
    if (this.options.reveal().queue.isShared) return;
    const open = (await this.steps.queue.counts()).filter(isOpen);
    const count = open.reduce((sum, row) => sum + row.count, 0);
    if (count === 0) return;
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
