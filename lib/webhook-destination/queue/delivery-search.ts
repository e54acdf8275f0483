import { ArgumentError } from '../../common/relay.errors.js';
import type { DeliveryPage, DeliveryQuery, DeliveryQueue, DeliveryRecord } from './delivery-queue.interface.js';
import { type CheckedQuery, checkPage, checkQuery } from './query.util.js';

/** Selects deliveries of a search; all given fields must match. */
export interface DeliverySearch extends DeliveryQuery {
  /** The type of its message; `delete` for a delete notification. */
  type?: string;
  /** The name of its event, exactly. */
  event?: string;
  /** Accepted at this time or later, in ms since the epoch. */
  acceptedFrom?: number;
}

/** A search as the engines get it. */
export interface CheckedSearch {
  query: CheckedQuery;
  type: string | undefined;
  event: string | undefined;
  acceptedFrom: number;
}

/** What a search found in the part of the deliveries that it read: fewer than the limit where it had to read much. */
export interface DeliveryPortion {
  /** The newest first. */
  deliveries: DeliveryRecord[];
  /** What the next portion comes `after`; undefined when this was the last. */
  next: string | undefined;
}

/** How long a search reads for one portion, in ms. */
export const PORTION_TIME = 50;

/** Records that one portion has, unless its page has a limit. */
export const PORTION_LIMIT = 100;

/** Records that are read at once, where the engine lists only. */
const LISTED = 200;

/**
 * The fields of a search that are given.
 * @throws {ArgumentError} that names the field at fault
 */
export function checkSearch(search: DeliverySearch): CheckedSearch {
  if (typeof search !== 'object' || search === null) throw new ArgumentError('a query must be an object');
  const { type, event, acceptedFrom = -Infinity, ...query } = search;
  for (const [field, value] of Object.entries({ type, event })) {
    if (value !== undefined && typeof value !== 'string')
      throw new ArgumentError(`${field} of a query must be a string`);
  }
  if (typeof acceptedFrom !== 'number') throw new ArgumentError('acceptedFrom of a query must be a number');
  return { query: checkQuery(query), type, event, acceptedFrom };
}

/** Whether the event of a search can be in JSON: without an escape, its name stands there as it is. */
export function mayHoldEvent({ event }: Pick<CheckedSearch, 'event'>, json: string | Buffer): boolean {
  return event === undefined || json.includes(JSON.stringify(event)) || json.includes('\\');
}

/** Whether the JSON that a delivery carries is of the type and event of a search. */
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

/** The next portion of a search, by the engine's own search or by its listing. */
export async function searchDeliveries(
  queue: DeliveryQueue,
  search: DeliverySearch,
  page?: DeliveryPage,
): Promise<DeliveryPortion> {
  return queue.search ? queue.search(search, page) : searchByList(queue, search, page);
}

/** A search of an engine that lists only. */
export async function searchByList(
  queue: Pick<DeliveryQueue, 'list'>,
  search: DeliverySearch,
  page: DeliveryPage = {},
): Promise<DeliveryPortion> {
  const checked = checkSearch(search);
  const { acceptedFrom } = checked;
  const { limit = PORTION_LIMIT, after } = checkPage(page);
  const query = { ...search };
  for (const field of ['type', 'event', 'acceptedFrom'] as const) delete query[field];
  const deliveries: DeliveryRecord[] = [];
  const end = performance.now() + PORTION_TIME;
  let next = after;
  do {
    const listed = await queue.list(query, { limit: LISTED, after: next });
    for (const record of listed) {
      if (deliveries.length === limit) return { deliveries, next };
      next = record.id;
      if (record.acceptedAt >= acceptedFrom && matchesBody(checked, record.body)) deliveries.push(record);
    }
    if (listed.length < LISTED) return { deliveries, next: undefined };
  } while (performance.now() < end);
  return { deliveries, next };
}
