import { ignoreElements, merge, type Observable, tap } from 'rxjs';

import {
  type DeliveryCount,
  type DeliveryRecord,
  type KeptSince,
  type NewDelivery,
  type OldestDelivery,
  type PurgedSource,
  type QueueCondition,
  type SweptRecords,
  type TakenDelivery,
  UNLIMITED,
} from '../../webhook-destination/queue/delivery.interface.js';
import {
  type CheckedSearch,
  type DeliveryPortion,
  searchByList,
} from '../../webhook-destination/queue/delivery-search.js';
import { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { PeerChannel } from '../../webhook-destination/queue/peer-channel.interface.js';
import type { CheckedPage, CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import type { Retention, RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import {
  type Claim,
  type ClaimLimit,
  type DeliveryStore,
  type Insertion,
  type MessageKey,
  type ReplayQuery,
  type Settlement,
  type StoreBatch,
  type StoreOwner,
  type TransactionStore,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { toSettled } from '../../webhook-destination/queue/delivery.factory.js';
import { ClaimGroup } from './claim-group.js';
import { CommitWatch } from './commit.watch.js';
import { DeliveryAdditions } from './delivery-additions.js';
import { encodeList, encodeText, LeasedDelivery, toKey } from './delivery.codec.js';
import { DeliveryRecords } from './delivery-records.js';
import { deliveryStatements } from './delivery.statements.js';
import { DueDestinations } from './due-destinations.js';
import { LongStatements } from './long-statements.js';
import { PostgresLogStore } from './postgres-log.store.js';
import { PostgresRegistryStore } from './postgres-registry.store.js';
import { PostgresSeriesStore } from './postgres-series.store.js';
import { PostgresSignals } from './postgres-signals.js';
import type { PostgresDatabase } from './postgres.database.js';
import { ProcessLeases } from './process-leases.js';
import { RetentionSweep } from './retention-sweep.js';
import { TransactionAdditions } from './transaction-additions.js';

const NO_FIELDS = new SearchedFields();

/** Deliveries in a PostgreSQL database that many processes share. */
export class PostgresStore implements DeliveryStore {
  readonly isShared = true;
  readonly fullTurn = 1;
  private readonly statements = deliveryStatements(this.database.schema);
  private readonly leases = new ProcessLeases(
    this.database,
    (names) => {
      this.claims.forget(names);
      this.due.announce(names);
    },
    () => this.owner?.resumed(),
  );
  private readonly signals = new PostgresSignals(this.database);
  private readonly due = new DueDestinations(this.database, this.signals, () => this.time());
  private readonly long = new LongStatements(this.database);
  private readonly records = new DeliveryRecords(this.long);
  private readonly searched = () => this.owner?.searched ?? NO_FIELDS;
  private readonly additions = new DeliveryAdditions(
    this.database,
    this.statements,
    this.leases,
    this.messageIds,
    () => this.time(),
    this.searched,
  );
  private readonly claims = new ClaimGroup(this.database, this.statements.claim, this.leases);
  private readonly watch = new CommitWatch(this.database);
  private owner: StoreOwner | undefined;
  readonly registry = new PostgresRegistryStore(this.database, this.signals);
  readonly series = new PostgresSeriesStore(this.database);
  readonly logs = new PostgresLogStore(this.database);
  readonly transactions: TransactionStore = new TransactionAdditions(
    this.database.schema,
    this.messageIds,
    this.signals,
    this.watch,
    () => this.time(),
    this.searched,
    (deliveries) => this.announce(deliveries),
  );
  readonly peers: PeerChannel = this.signals;
  readonly due$: Observable<string> = merge(
    this.due.names$,
    this.signals.purged$.pipe(
      tap((ids) => this.owner?.purged(ids)),
      ignoreElements(),
    ),
  );

  constructor(
    private readonly database: PostgresDatabase,
    private readonly messageIds: Required<RetentionBound>,
  ) {}

  now(): number {
    return this.leases.now();
  }

  holdsLeases(): boolean {
    return this.leases.areHeld;
  }

  async open(owner: StoreOwner): Promise<void> {
    this.owner = owner;
    try {
      await this.database.open();
      await this.signals.open();
      await this.leases.open(owner);
    } catch (error) {
      await this.database.close();
      throw error;
    }
    this.due.open();
  }

  async insert(batches: StoreBatch[]): Promise<Insertion[]> {
    const inserted = await this.additions.add(batches);
    this.announce(batches.filter(({ leased }) => !leased).map(({ deliveries }) => deliveries[0]!));
    return inserted;
  }

  async remembers(message: MessageKey, destinations: readonly string[]): Promise<string[]> {
    const keys = destinations.map((destination) => toKey({ ...message, destination }));
    const [row] = await this.database.query<{ places: number[] }>(this.statements.remembers, [keys]);
    return row!.places.map((place) => destinations[place]!);
  }

  /** Stores deliveries of another queue, with their attempts, retry windows and due times. */
  async take(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    await this.additions.take(deliveries);
    this.due.announce(deliveries.map(({ destination }) => destination));
  }

  claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    return this.claims.claim(destination, limit, now);
  }

  async settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    const { mark } = this.leases;
    const held = settlements.filter(({ delivery }) => LeasedDelivery.isHeld(delivery, mark));
    if (held.length === 0) return settlements.map(({ isInDoubt }) => isInDoubt);
    const settled = held.map(toSettled);
    const [row] = await this.database.query<{ ids: string[] }>(this.statements.settle, [
      mark,
      now,
      held.map(({ delivery }) => delivery.id),
      settled.map(({ state }) => state),
      settled.map(({ dueAt }) => (dueAt === undefined ? null : Math.ceil(dueAt))),
      settled.map((delivery) => delivery.firstAttemptAt ?? null),
      settled.map(({ attempts }) => encodeList(attempts)),
      settled.map(({ failedUrls }) => encodeList(failedUrls)),
      settled.map(({ reason }) => (reason === undefined ? null : encodeText(reason))),
    ]);
    const { ids } = row!;
    this.claims.forget(held.flatMap(({ delivery, outcome }) => (outcome ? [] : delivery.destination)));
    if (ids.length === settlements.length) return settlements.map(() => true);
    const recorded = new Set(ids);
    return settlements.map(({ delivery, isInDoubt }) => isInDoubt || recorded.has(delivery.id));
  }

  list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]> {
    return this.records.list(query, page);
  }

  search(search: CheckedSearch, page: CheckedPage): Promise<DeliveryPortion> {
    const keys = this.searched().keysFor(search.values);
    return searchByList({ list: (query, listed) => this.records.list(query, listed, keys) }, search, page);
  }

  async check(): Promise<QueueCondition> {
    await this.leases.renew();
    return UNLIMITED;
  }

  oldest(): Promise<OldestDelivery[]> {
    return this.records.oldest();
  }

  counts(except: readonly string[] = []): Promise<DeliveryCount[]> {
    return this.records.counts(except);
  }

  keptSince(): Promise<KeptSince[]> {
    return this.records.keptSince();
  }

  async replay(query: ReplayQuery, now: number): Promise<string[]> {
    const destinations = await this.records.replay(query, now);
    this.due.announce(destinations);
    return destinations;
  }

  async expedite(destination: string, now: number): Promise<number> {
    const count = await this.records.expedite(destination, now);
    if (count > 0) this.due.announce([destination]);
    return count;
  }

  /** PostgreSQL overwrites purged data once a vacuum has run. */
  purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    return this.records.purge(query, keepsNotices, (ids) => this.signals.sendPurged(ids));
  }

  async sweep(retention: Retention, now: number): Promise<SweptRecords> {
    const swept = await new RetentionSweep(this.long).run(retention, now);
    await this.registry.sweep(Date.now());
    return swept;
  }

  /** PostgreSQL overwrites what is left when it vacuums. */
  scrub(): Promise<void> {
    return Promise.resolve();
  }

  beginClose(): void {
    this.database.beginClose();
  }

  async close(): Promise<void> {
    await this.additions.idle();
    this.watch.close();
    this.due.stop();
    try {
      await this.leases.close();
      if (this.owner) await this.signals.sendDue([]); // other processes look for the deliveries released here
    } catch {
      // Deliveries that PostgreSQL does not take back are due again once the lease of this process expires.
    }
    this.signals.close();
    await this.database.close();
    this.owner = undefined;
  }

  /** Announces deliveries that can be claimed. */
  private announce(deliveries: NewDelivery[]): void {
    for (const { destination, acceptedAt } of deliveries) this.claims.lower(destination, acceptedAt);
    this.due.announce(deliveries.map(({ destination }) => destination));
  }

  /** Returns the queue's time, in ms since the epoch. */
  private time(): number {
    return this.owner?.now() ?? this.now();
  }
}
