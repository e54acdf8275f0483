import { errorMessage } from '../../client/error.util.js';
import type { RelayError } from '../../client/relay.error.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { CallerQuota, type CountedCaller } from '../http/caller.quota.js';
import { RequestError } from '../http/request.error.js';
import type { MessageExplainer } from '../message.explainer.js';
import { sortCounts } from '../observe/destination-counts.js';
import type { QueueFigures } from '../observe/queue.figures.js';
import { PAUSED } from '../queue/dead-reasons.js';
import { type DeliveryRecord, isReplayable } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { DeliverySearch } from '../queue/delivery-search.js';
import type { DestinationManager } from '../registry/destination.manager.js';
import { toLiveDestination } from '../registry/entry.document.js';
import type { DestinationEntry } from '../registry/registry-entry.interface.js';
import {
  SHOWN_STATES,
  type ShownDelivery,
  type ShownState,
  type ShownWholeDelivery,
  showDeliveries,
  showWholeDelivery,
} from './delivery.view.js';
import type { OpaqueIds } from './opaque-ids.js';
import { type TenantEndpoints, unknownEndpoint } from './tenant.endpoints.js';

/** Maximum number of deliveries that one request replays. */
const MAX_REPLAYED = 10_000;

/** Replays in progress: each is thousands of writes to the store. */
const REPLAYS_AT_ONCE = { each: 1, readers: 10, all: 10 };

/** Time after which all processes know that an endpoint was resumed, in ms. */
const KNOWN_AFTER = 6_000;

type ReplaySearch = DeliverySearch & { state: 'dead' };

/** Selects deliveries of an endpoint. */
export interface TenantSearch {
  state?: ShownState | undefined;
  event?: string | undefined;
  /** Accepted at this time or later, in ms since the epoch. */
  since?: number | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Numbers of deliveries of an endpoint. */
export interface EndpointCounts {
  waiting: number;
  delivered: number;
  dead: number;
}

/** The deliveries to the endpoints of tenants. */
export class TenantDeliveries {
  private readonly logger = new LimitedLogger('WebhookDestinationPortal');
  private readonly replaysAtOnce = new CallerQuota(REPLAYS_AT_ONCE);
  /** By the endpoint whose kept deliveries are to be sent. */
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly queue: Pick<DeliveryQueue, 'list' | 'replays' | 'searches'>,
    private readonly figures: Pick<QueueFigures, 'counts'>,
    private readonly explainer: Pick<MessageExplainer, 'endOf'>,
    private readonly manager: Pick<DestinationManager, 'documentOf'>,
    private readonly endpoints: TenantEndpoints,
    private readonly ids: OpaqueIds,
  ) {}

  /**
   * Returns the next deliveries of an endpoint, newest first; of those that wait, first the ones without an attempt.
   *
   * @throws {RequestError} 400 for a cursor of another search
   */
  async search(
    { name, createdAt }: DestinationEntry,
    tenant: string,
    { state, event, since, cursor, limit }: TenantSearch,
    caller: CountedCaller,
  ): Promise<{ deliveries: ShownDelivery[]; cursor?: string | undefined }> {
    const states: readonly (DeliverySearch['state'] | undefined)[] = state ? SHOWN_STATES[state] : [undefined];
    const owner = JSON.stringify([tenant, name, state, event, since]); // another search cannot read its cursor
    let { index, after } = this.readCursor(owner, cursor);
    const found: DeliveryRecord[] = [];
    let isTimely = true;
    while (index < states.length && found.length < limit && isTimely) {
      const search = { destination: name, state: states[index], event, acceptedFrom: latest(since, createdAt) };
      const portion = await this.queue.searches.search(search, { limit: limit - found.length, after }, caller);
      found.push(...portion.deliveries);
      after = portion.next;
      isTimely = after === undefined; // otherwise the portion is full, or took its time
      if (isTimely) index++;
    }
    const deliveries = await showDeliveries(found, tenant, this.ids);
    return index === states.length
      ? { deliveries }
      : { deliveries, cursor: this.ids.conceal(owner, `${index} ${after ?? ''}`) };
  }

  /**
   * Returns the delivery of a tenant with this id.
   *
   * @throws {RequestError} 404
   */
  async find(tenant: string, id: string): Promise<ShownWholeDelivery> {
    const record = await this.read(tenant, id);
    const { givesUpAt } = this.explainer.endOf(
      record,
      toLiveDestination(await this.manager.documentOf(record.destination)),
    );
    return showWholeDelivery(record, givesUpAt, tenant, this.ids);
  }

  /**
   * Sends a delivery again. Resolves with what it was.
   *
   * @throws {RequestError} 404, or 409 for one that is due or being sent
   */
  async replay(tenant: string, id: string): Promise<DeliveryRecord> {
    const record = await this.read(tenant, id);
    const { state } = record;
    if (isReplayable(state) && (await this.queue.replays.run({ id: record.id, state })) > 0) return record;
    throw new RequestError('delivery_not_replayed', 'the delivery is due, or is being sent', 'id');
  }

  /** Sends the dead deliveries of an endpoint again that were accepted since a time, at most 10,000. */
  replaySince({ name, createdAt, disabled }: DestinationEntry, since: number, caller: CountedCaller) {
    if (disabled)
      throw new RequestError(
        'delivery_not_replayed',
        'the endpoint is disabled or paused: enable or resume it first',
        'id',
      );
    const search = { destination: name, state: 'dead', acceptedFrom: latest(since, createdAt) } as const;
    return this.runReplay(search, caller);
  }

  /**
   * Sends the deliveries that an endpoint did not get while its tenant paused it, at most 10,000, the newest first. The others
   * follow once all processes know that it takes deliveries again: until then, one may still set some aside.
   */
  async replayPaused(
    endpoint: DestinationEntry,
    { caller: { tenant }, counted }: { caller: { tenant: string }; counted: CountedCaller },
  ): Promise<{ replayed: number; more: boolean }> {
    this.replayRestLater(tenant, endpoint.name, counted);
    return this.runReplay(pausedOf(endpoint), counted).catch((error: unknown) => {
      const { code } = error as Partial<RelayError>;
      if (code === 'rate_limited' || code === 'too_many_searches') return { replayed: 0, more: true };
      throw error;
    });
  }

  private replayRestLater(tenant: string, name: string, caller: CountedCaller): void {
    clearTimeout(this.timers.get(name));
    const timer = setTimeout(() => {
      this.timers.delete(name);
      void this.replayRest(tenant, name, caller);
    }, KNOWN_AFTER);
    this.timers.set(name, timer.unref());
  }

  private async replayRest(tenant: string, name: string, caller: CountedCaller): Promise<void> {
    try {
      const endpoint = await this.endpoints.findNamed(tenant, name);
      if (endpoint && !endpoint.disabled) await this.queue.replays.runFound(pausedOf(endpoint), Infinity, caller);
      this.logger.succeeded();
    } catch (error) {
      if ((error as Partial<RelayError>).code === 'closed') return;
      const line = `What ${name} did not get while it was paused cannot be sent, trying again: ${errorMessage(error)}`;
      this.logger.failed(line, { destination: name });
      this.replayRestLater(tenant, name, caller);
    }
  }

  /** @throws {RequestError} 429 while another replay of the tenant is in progress */
  private async runReplay(search: ReplaySearch, caller: CountedCaller): Promise<{ replayed: number; more: boolean }> {
    const share = this.replaysAtOnce.take(caller, 1);
    if (!share) throw new RequestError('rate_limited', 'another replay is in progress; try again later', 'id');
    return this.queue.replays.runFound(search, MAX_REPLAYED, caller).finally(() => share.release());
  }

  /** Counts the deliveries of an endpoint. */
  async count({ name }: DestinationEntry): Promise<EndpointCounts> {
    const counts = sortCounts(await this.figures.counts()).byName.get(name)?.counts ?? {};
    const { queued = 0, delivering = 0, waiting = 0, delivered = 0, dead = 0 } = counts;
    return { waiting: queued + delivering + waiting, delivered, dead };
  }

  private async read(tenant: string, id: string): Promise<DeliveryRecord> {
    const revealed = this.ids.reveal(tenant, id);
    const [record] = revealed === undefined ? [] : await this.queue.list({ id: revealed });
    const endpoint = record && (await this.endpoints.findNamed(tenant, record.destination));
    if (endpoint && record.acceptedAt >= latest(endpoint.createdAt)) return record;
    throw unknownEndpoint();
  }

  private readCursor(owner: string, cursor: string | undefined): { index: number; after?: string } {
    if (cursor === undefined) return { index: 0 };
    const [, index, after] = /^(\d) (.*)$/s.exec(this.ids.reveal(owner, cursor) ?? '') ?? [];
    if (index === undefined) {
      throw new RequestError('query_invalid', 'cursor must be that of an earlier answer to the same search', 'cursor');
    }
    return { index: Number(index), ...(after !== '' && { after: after! }) };
  }
}

function pausedOf({ name, createdAt }: DestinationEntry): ReplaySearch {
  return { destination: name, state: 'dead', reason: PAUSED, acceptedFrom: latest(createdAt) };
}

/** Deliveries from before the creation are those of an earlier destination with the same name. */
function latest(...times: (number | undefined)[]): number {
  return Math.max(...times.map((time = 0) => time));
}
