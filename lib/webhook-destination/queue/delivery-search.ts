import { setTimeout as sleep } from 'node:timers/promises';

import { ArgumentError } from '../../common/relay.errors.js';
import { parseJson } from '../../common/value.util.js';
import type { AttemptRecord } from './attempt-record.interface.js';
import type { Delivery, DeliveryQuery, DeliveryRecord } from './delivery.interface.js';
import { type CheckedPage, type CheckedQuery, checkQuery } from './query.util.js';
import { hasValue, mayHoldField, mayHoldText, type SearchedValue } from './searched-fields.js';

/** Selects deliveries for a search; all given fields must match. */
export interface DeliverySearch extends DeliveryQuery {
  /** Message type; `delete` for a delete notification. */
  type?: string;
  /** Exact event name. */
  event?: string;
  /** How the event name begins. */
  eventStart?: string;
  /**
   * Values in the body, by dotted path, such as `{ 'properties.orderId': '4711' }`: a text, or a number, `true` or
   * `false` as text. Those of the option `search.fields` are found at once, for others bodies are read.
   */
  fields?: Readonly<Record<string, string>>;
  /** HTTP status that a URL answered in the last attempt. */
  status?: number;
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
  eventStart?: string | undefined;
  /** Values in the body; undefined if none are searched. */
  values?: readonly SearchedValue[] | undefined;
  status?: number | undefined;
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
const PORTION_TIME = 80;

/** Total length of the bodies after which a portion ends, in bytes: all are in memory until they are shown. */
export const PORTION_BYTES = 4 * 1024 * 1024;

/** How long a search works without a pause, in ms. */
const SLICE_TIME = 1;

/** Its pauses, as a multiple of the time it worked: `npm run bench:searches` shows what they do to deliveries. */
const PAUSE_RATIO = 2;

/** Records read with one call of `list`, for a store that has no search of its own; more if they have no bodies. */
const LISTED = 200;
const LISTED_BODILESS = 2_000;

/**
 * Checks a search and fills in its defaults.
 * @throws {ArgumentError} that names the field at fault
 */
export function checkSearch(search: DeliverySearch): CheckedSearch {
  if (typeof search !== 'object' || search === null) throw new ArgumentError('a query must be an object');
  const { type, event, eventStart, release, fields, status, acceptedFrom = -Infinity, ...query } = search;
  for (const [field, value] of Object.entries({ type, event, eventStart, release })) {
    if (value !== undefined && typeof value !== 'string')
      throw new ArgumentError(`${field} of a query must be a string`);
  }
  if (typeof acceptedFrom !== 'number') throw new ArgumentError('acceptedFrom of a query must be a number');
  if (status !== undefined && !Number.isSafeInteger(status))
    throw new ArgumentError('status of a query must be a whole number');
  const values = checkFields(fields);
  return { query: checkQuery(query), type, event, eventStart, release, values, status, acceptedFrom };
}

function checkFields(fields: unknown): SearchedValue[] | undefined {
  if (fields === undefined) return undefined;
  const values = Object.entries(Object(fields) as object).map(([field, text]: [string, unknown]) => ({ field, text }));
  if (typeof fields !== 'object' || fields === null || !values.every(({ text }) => typeof text === 'string'))
    throw new ArgumentError('fields of a query must be an object with a text for each field');
  return values.length === 0 ? undefined : (values as SearchedValue[]);
}

/** Whether a search compares what is in bodies. */
export function comparesBody({ type, event, eventStart, values }: Omit<CheckedSearch, 'query'>): boolean {
  return (type ?? event ?? eventStart ?? values) !== undefined;
}

/** Whether JSON, such as that of several bodies, can contain what a search wants. */
export function mayMatch(
  { event, eventStart, values = [] }: Omit<CheckedSearch, 'query'>,
  json: string | Buffer,
): boolean {
  return (
    (event === undefined || mayHoldText(json, JSON.stringify(event))) &&
    (eventStart === undefined || mayHoldText(json, JSON.stringify(eventStart).slice(0, -1))) &&
    values.every((value) => mayHoldField(json, value))
  );
}

/** Whether the JSON body of a delivery has the type, event and values of a search. */
export function matchesBody(search: CheckedSearch, body: string | Buffer): boolean {
  if (!comparesBody(search)) return true;
  if (!mayMatch(search, body)) return false;
  const message = parseJson(body.toString()) as { type?: unknown; event?: unknown } | null | undefined;
  if (typeof message !== 'object' || message === null) return false;
  const { type = message.type, event = message.event, eventStart, values = [] } = search;
  return (
    message.type === type &&
    message.event === event &&
    (eventStart === undefined || (typeof message.event === 'string' && message.event.startsWith(eventStart))) &&
    values.every((value) => hasValue(message, value))
  );
}

/** Whether the last attempt of a delivery had the status of a search. */
export function matchesAttempt({ status }: CheckedSearch, attempts: readonly AttemptRecord[]): boolean {
  return status === undefined || attempts.at(-1)?.results.some((result) => result.status === status) === true;
}

/** Has a search work for a third of the time, in short slices, so it hardly delays deliveries. */
export class SearchPace {
  private readonly end = performance.now() + PORTION_TIME;
  private startedAt = performance.now();
  private bytes = 0;

  /** Whether the search must {@link pause} before it goes on. */
  get isDue(): boolean {
    return performance.now() - this.startedAt >= SLICE_TIME;
  }

  async pause(): Promise<void> {
    await sleep(PAUSE_RATIO * (performance.now() - this.startedAt));
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

/** Whether a delivery that its query has selected matches the rest of a search. */
export function matchesRecord(
  search: CheckedSearch,
  delivery: Pick<Delivery, 'acceptedAt' | 'release' | 'attempts'> & { body: string | Buffer },
): boolean {
  return (
    delivery.acceptedAt >= search.acceptedFrom &&
    (search.release === undefined || delivery.release === search.release) &&
    matchesAttempt(search, delivery.attempts) &&
    matchesBody(search, delivery.body)
  );
}

/** Searches a store by listing. */
export async function searchByList(
  store: { list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]> },
  search: CheckedSearch,
  { limit, after, isBodiless: isAsked = false }: CheckedPage,
): Promise<DeliveryPortion> {
  const deliveries: DeliveryRecord[] = [];
  const pace = new SearchPace();
  const isBodiless = isAsked && !comparesBody(search);
  const most = isBodiless ? LISTED_BODILESS : LISTED;
  let next = after;
  do {
    const listed = await store.list(search.query, { limit: most, after: next, isBodiless });
    for (const record of listed) {
      if (deliveries.length === limit) return { deliveries, next };
      if (pace.isDue) await pace.pause();
      next = record.id;
      if (!matchesRecord(search, record)) continue;
      deliveries.push(record);
      pace.found(record.body.length);
    }
    if (listed.length < most) return { deliveries, next: undefined };
  } while (!pace.isOver);
  return { deliveries, next };
}
