import { Inject, Injectable } from '@nestjs/common';
import { EMPTY, type Observable } from 'rxjs';

import type { SerializedMessage } from '../client/message/serialized-message.js';
import type { Concealed } from '../common/concealed.value.js';
import { OptionsError } from '../common/options.error.js';
import { ArgumentError, UnknownWriteKeyError } from '../common/relay.errors.js';
import type { AuditEntry } from './observe/audit.log.js';
import type { DeletionRequest, DeletionResult } from './admin/user-deletion.js';
import type { DeliveryEvent } from './dispatch/delivery-event.js';
import type { InProcessProducer } from './ingest/in-process-ingest.interface.js';
import type { AcceptResult } from './ingest/ingest.result.js';
import { ParsedMessage } from './ingest/parsed-message.js';
import { toPosted } from './ingest/recorded-message.js';
import { toSender } from './ingest/sender.js';
import type { Explanation } from './message.explainer.js';
import type { DeliveryCount, DeliveryPage, DeliveryQuery, DeliveryRecord } from './queue/delivery.interface.js';
import type { OperationalEvent } from './portal/operational-event.js';
import { DeliveryPortion, DeliverySearch } from './queue/delivery-search.js';
import type { PortalLinks } from './portal/portal.links.js';
import type { DestinationManager } from './registry/destination.manager.js';
import type { SourceManager } from './registry/source.manager.js';
import { RelayLifecycle } from './relay.lifecycle.js';
import { RelaySteps } from './relay-steps.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';
import { CHECKED_OPTIONS } from './webhook-destination.tokens.js';

/** Maximum number of messages in one call of `accept`: all are in memory until the last is stored. */
const MAX_ACCEPTED = 100_000;

/** Options of {@link WebhookDestinationService.accept}. */
export interface AcceptOptions {
  /**
   * When the sender posted the messages, by its own clock: corrects `originalTimestamp` of those without `timestamp`.
   * Default: no correction.
   */
  sentAt?: unknown;
  /**
   * Transaction of the application that the messages take part in, or a `TransactionRunner`. Needs `postgresQueue()` in
   * the same database. Default: none.
   * @see docs/transactions.md, "How to record in a transaction"
   */
  transaction?: unknown;
}

/** Forwards messages of the application's sources to webhooks. */
@Injectable()
export class WebhookDestinationService {
  /** Emits the outcome of each delivery attempt; completes when the application closes. */
  readonly events$: Observable<DeliveryEvent>;

  /**
   * Emits deletions, and what callers of the admin routes and tenants in the portal do or are refused: sign-ins, changes,
   * replays, and secrets that were shown. Completes when the application closes.
   */
  readonly audit$: Observable<AuditEntry>;

  /**
   * Emits what happens to the endpoints of tenants, if this process noticed it: one has failed for a minute, is disabled or
   * takes messages again, or a delivery to it is dead. Completes when the application closes; at once without the option
   * `portal`.
   *
   * @see docs/portal.md, "Life of an endpoint"
   */
  readonly operational$: Observable<OperationalEvent>;

  /**
   * Manager of the destinations: those of the options, and those of the registry, which can be changed.
   * @see docs/destinations.md
   */
  readonly destinations: DestinationManager;

  /**
   * Manager of the sources: those of the options, and those of the registry, which can be changed.
   * @see docs/destinations.md
   */
  readonly sources: SourceManager;

  constructor(
    @Inject(CHECKED_OPTIONS) private readonly options: Concealed<WebhookDestinationOptions>,
    private readonly steps: RelaySteps,
    private readonly lifecycle: RelayLifecycle,
  ) {
    this.events$ = steps.dispatcher.events$;
    this.audit$ = steps.audit.entries$;
    this.operational$ = steps.endpoints?.events$ ?? EMPTY;
    this.destinations = steps.destinationManager;
    this.sources = steps.sourceManager;
  }

  /**
   * Accepts up to 100,000 messages as `POST /v1/batch` does. Resolves once the valid messages are stored durably in the
   * queue; the result names the invalid ones. Many messages are stored in portions, between which other work goes on.
   * Rejects, with no message accepted, if no source has the write key or the queue accepts no messages.
   *
   * With `transaction`, the messages are written in a transaction of the application, all or none: they are accepted if
   * it commits. A message that breaks a rule rejects the call.
   *
   * @param messages must not be changed until the call has ended
   * @throws {PartlyAcceptedError} if the queue stores some portions and then fails; the call can be repeated
   * @throws {TransactionError} if the transaction cannot be used
   * @see docs/transactions.md, "How to record in a transaction"
   */
  async accept(
    writeKey: string,
    messages: unknown[],
    { sentAt, transaction }: AcceptOptions = {},
  ): Promise<AcceptResult> {
    if (!Array.isArray(messages)) throw new ArgumentError('messages must be an array');
    if (messages.length > MAX_ACCEPTED) {
      const rule = `messages must not contain more than ${MAX_ACCEPTED} messages; this call has ${messages.length}`;
      throw new ArgumentError(rule);
    }
    const source = await this.sourceOf(writeKey);
    const posted = messages.map((message) => new ParsedMessage(message));
    const facts = { sentAt, sender: toSender(writeKey) };
    if (transaction !== undefined) return this.steps.acceptor.acceptIn(transaction, source, posted, facts);
    return this.steps.acceptor.accept(source, posted, facts);
  }

  /**
   * Removes the deliveries of up to 1,000 users from the queue, and queues a delete notification for each user
   * to each enabled destination of the affected sources. Resolves once the notifications are stored durably and
   * the deliveries are removed. Rejects if either fails; the request must then be repeated.
   * Messages that identify the user only by `anonymousId` or `previousId` are not found.
   *
   * @throws {RelayError} naming the invalid field
   * @see docs/specification.md, "Deletion"
   */
  requestDeletion(request: DeletionRequest): Promise<DeletionResult> {
    return this.steps.deletion.request(request, (entry) => this.steps.audit.record({ ...entry, by: 'application' }));
  }

  /** Returns the matching deliveries with their attempts, newest first. */
  deliveries(query: DeliveryQuery = {}, page?: DeliveryPage): Promise<DeliveryRecord[]> {
    return this.steps.queue.list(query, page);
  }

  /**
   * Returns the next matching deliveries, newest first, as far as they are found in a short time. A search that reads
   * many records returns its results in portions. A process runs one search at a time, with pauses, because a
   * search delays deliveries.
   *
   * @throws {RelayError} `too_many_searches`, if the searches before this one take longer than 3 s
   */
  search(search: DeliverySearch = {}, page?: DeliveryPage): Promise<DeliveryPortion> {
    return this.steps.queue.searches.search(search, page);
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
    await this.lifecycle.open();
    return this.steps.explainer.explain(message, source);
  }

  /**
   * Resends dead deliveries: the one with this id, or all that match the query. Each gets a new retry window. With the
   * state `delivered`, the query selects delivered ones, which are sent again with the same message id; with `waiting`,
   * those that wait for a retry, which is then made now. Resolves with the number of deliveries.
   */
  replay(idOrQuery: string | DeliveryQuery): Promise<number> {
    return this.steps.queue.replay(typeof idOrQuery === 'string' ? { id: idOrQuery } : idOrQuery);
  }

  /**
   * Removes deliveries with bodies and attempts: the one with this id, or all that match the query. Only dead ones are
   * removed unless the query has a `state`. Resolves with the number of deliveries.
   */
  purge(idOrQuery: string | DeliveryQuery): Promise<number> {
    const query = typeof idOrQuery === 'string' ? { id: idOrQuery } : idOrQuery;
    return this.steps.queue.purge({ state: 'dead', ...query });
  }

  /**
   * Links to the customers' portal.
   *
   * @throws {OptionsError} without the option `portal`
   * @see docs/portal.md
   */
  get portal(): PortalLinks {
    const { portalLinks } = this.steps;
    if (portalLinks) return portalLinks;
    throw new OptionsError('WebhookDestinationModule', ['portal must be set for service.portal']);
  }

  /** Returns the number of deliveries for each destination and state. */
  stats(): Promise<DeliveryCount[]> {
    return this.steps.queue.counts();
  }

  /** @internal */
  async acceptRecorded(
    writeKey: string,
    messages: readonly SerializedMessage[],
    release?: string,
    transaction?: unknown,
  ): Promise<AcceptResult> {
    await this.lifecycle.opened; // events recorded during startup do not open the registry early
    const source = await this.sourceOf(writeKey);
    const { acceptor } = this.steps;
    const posted = messages.map(toPosted);
    // In process, sender and relay share a clock.
    const facts = { sentAt: new Date(), recording: { release }, sender: toSender(writeKey) };
    if (transaction !== undefined) return acceptor.acceptIn(transaction, source, posted, facts);
    return acceptor.accept(source, posted, facts);
  }

  /** @internal */
  get joinsTransactions(): boolean {
    return this.steps.queue.joinsTransactions;
  }

  /** @internal */
  get sourceNames(): string[] {
    return this.steps.sources.names;
  }

  /** @internal Number of events that in-process recording lost before they reached ingest. */
  get lostCount(): number {
    return [...this.steps.producers].reduce((sum, { lostCount = 0 }) => sum + lostCount, 0);
  }

  /** @internal */
  sourceNameOf(writeKey: string): string | undefined {
    return this.steps.sources.find(writeKey);
  }

  /** @internal */
  attach(writeKey: string, producer: InProcessProducer): boolean {
    // The registry may have the key, which is known only once it is open.
    if (this.steps.sources.find(writeKey) === undefined && !this.options.reveal().registry) return false;
    this.steps.producers.add(producer);
    return true;
  }

  private async sourceOf(writeKey: unknown): Promise<string> {
    if (this.options.reveal().registry) await this.lifecycle.open(); // its sources are known only once it is open
    const source = typeof writeKey === 'string' ? this.sourceNameOf(writeKey) : undefined;
    if (source === undefined) throw new UnknownWriteKeyError();
    await this.lifecycle.opened;
    return source;
  }
}
