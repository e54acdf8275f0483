import { setTimeout as sleep } from 'node:timers/promises';

import { ArgumentError } from '../../common/relay.errors.js';
import type { DeliveryQuery, DeliveryRecord } from './delivery.interface.js';
import { type CheckedPage, type CheckedQuery, checkQuery } from './query.util.js';

/** Selects deliveries for a search; all given fields must match. */
export interface DeliverySearch extends DeliveryQuery {
  /** Message type; `delete` for a delete notification. */
  type?: string;
  /** Exact event name. */
  event?: string;
  /** Release of the application that recorded the message. */
  release?: string;
  /** Accepted at this time or later, in ms since the epoch. */
  acceptedFrom?: number;
}

/** A checked search, as engines receive it. */
export interface CheckedSearch {
  query: CheckedQuery;
  type?: string | undefined;
  event?: string | undefined;
  release?: string | undefined;
  acceptedFrom: number;
}

/** One portion of a search's results, with fewer than the limit if the search had to read many deliveries. */
export interface DeliveryPortion {
  /** Newest first. */
  deliveries: DeliveryRecord[];
  /** Value of `after` for the next portion; undefined when this was the last. */
  next: string | undefined;
}

/** How long a search may take for one portion, in ms. */
const PORTION_TIME = 50;

/** Total length of the bodies after which a portion ends, in bytes: all are in memory until they are shown. */
export const PORTION_BYTES = 4 * 1024 * 1024;

/** How long a search works without a pause, in ms. */
const SLICE_TIME = 4;

/** Records read with one call of `list`, for a store that has no search of its own; more if they have no bodies. */
const LISTED = 200;
const LISTED_BODILESS = 2_000;

/**
 * Checks a search and fills in its defaults.
 * @throws {ArgumentError} that names the field at fault
 */
export function checkSearch(search: DeliverySearch): CheckedSearch {
  if (typeof search !== 'object' || search === null) throw new ArgumentError('a query must be an object');
  const { type, event, release, acceptedFrom = -Infinity, ...query } = search;
  for (const [field, value] of Object.entries({ type, event, release })) {
    if (value !== undefined && typeof value !== 'string')
      throw new ArgumentError(`${field} of a query must be a string`);
  }
  if (typeof acceptedFrom !== 'number') throw new ArgumentError('acceptedFrom of a query must be a number');
  return { query: checkQuery(query), type, event, release, acceptedFrom };
}

/** Whether JSON can contain the event of a search: unless the JSON has escapes, it contains the name verbatim. */
export function mayHoldEvent({ event }: Pick<CheckedSearch, 'event'>, json: string | Buffer): boolean {
  return event === undefined || json.includes(JSON.stringify(event)) || json.includes('\\');
}

/** Whether the JSON body of a delivery has the type and event of a search. */
export function matchesBody({ type, event }: CheckedSearch, body: string | Buffer): boolean {
  if (type === undefined && event === undefined) return true;
  if (!mayHoldEvent({ event }, body)) return false;
  try {
    const message = JSON.parse(body.toString()) as { type?: unknown; event?: unknown };
    return message.type === (type ?? message.type) && message.event === (event ?? message.event);
  } catch {
    return false;
  }
}

/** Whether a delivery has the release of a search. */
export function matchesRelease({ release }: CheckedSearch, delivery: { release?: string | undefined }): boolean {
  return release === undefined || delivery.release === release;
}

/** Has a search pause for as long as it works, so deliveries get half of the time. */
export class SearchPace {
  private readonly end = performance.now() + PORTION_TIME;
  private startedAt = performance.now();
  private bytes = 0;

  /** Whether the search must {@link pause} before it goes on. */
  get isDue(): boolean {
    return performance.now() - this.startedAt >= SLICE_TIME;
  }

  async pause(): Promise<void> {
    await sleep(performance.now() - this.startedAt);
    this.startedAt = performance.now();
  }

  /** Counts the size of a body that was found. */
  found(bytes: number): void {
    this.bytes += bytes;
  }

  /** Whether the portion must end here. */
  get isOver(): boolean {
    return performance.now() > this.end || this.bytes > PORTION_BYTES;
  }
}

/** Searches a store by listing. */
export async function searchByList(
  store: { list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]> },
  search: CheckedSearch,
  { limit, after, isBodiless: isAsked = false }: CheckedPage,
): Promise<DeliveryPortion> {
  const deliveries: DeliveryRecord[] = [];
  const pace = new SearchPace();
  const isBodiless = isAsked && search.type === undefined && search.event === undefined;
  const most = isBodiless ? LISTED_BODILESS : LISTED;
  let next = after;
  do {
    const listed = await store.list(search.query, { limit: most, after: next, isBodiless });
    for (const record of listed) {
      if (deliveries.length === limit) return { deliveries, next };
      if (pace.isDue) await pace.pause();
      next = record.id;
      if (record.acceptedAt < search.acceptedFrom || !matchesRelease(search, record)) continue;
      if (!matchesBody(search, record.body)) continue;
      deliveries.push(record);
      pace.found(record.body.length);
    }
    if (listed.length < most) return { deliveries, next: undefined };
  } while (!pace.isOver);
  return { deliveries, next };
}
