import { getPortion, PAGE_ROWS, type Portion } from '../../api/keyset.hook.js';
import type { DeliverySummary } from './delivery.answer.js';

/** Query fields of a search, the same in the hash and in the API. */
export type DeliveryFilter = Record<string, string>;

/** Names of query fields, in the order in which they are shown. */
const NAMES: Record<string, string> = {
  id: 'Delivery id',
  destination: 'Destination',
  reason: 'Reason',
  userId: 'User',
  event: 'Event',
  eventStart: 'Event begins with',
  anonymousId: 'Anonymous id',
  messageId: 'Message id',
  source: 'Source',
  type: 'Type',
  status: 'Status of the last attempt',
  from: 'Accepted from',
  to: 'Accepted before',
};

/** Returns the name of a query field; that of a field of messages is its path. */
export function nameOfField(field: string): string {
  return NAMES[field] ?? field.replace(/^field\./, '');
}

/** Returns the fields of a filter besides the state, in the order in which they are shown. */
export function fieldsOf(filter: DeliveryFilter): string[] {
  const known = Object.keys(NAMES).filter((field) => field in filter);
  return [...known, ...Object.keys(filter).filter((field) => field.startsWith('field.'))];
}

/**
 * Converts a query. Keeps unknown fields, which the API refuses: without a misspelt field, a search could match
 * everything.
 */
export function toFilter(query: URLSearchParams): DeliveryFilter {
  return Object.fromEntries([...query].filter(([, value]) => value !== ''));
}

/** Loads matching deliveries, and how far back the search has read. */
export async function searchPortion(
  filter: DeliveryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
  limit = PAGE_ROWS,
): Promise<Portion<DeliverySummary>> {
  const portion = await getPortion<DeliverySummary>('deliveries', { limit, ...filter, cursor }, signal);
  if (portion.cursor === undefined) return portion;
  const next = portion.rows.length < limit ? await firstAfter(portion.cursor, signal) : portion.rows.at(-1);
  return { ...portion, reached: next?.acceptedAt };
}

/** Returns the delivery that a search reads next, whether it matches or not. */
async function firstAfter(cursor: string, signal: AbortSignal): Promise<DeliverySummary | undefined> {
  return (await getPortion<DeliverySummary>('deliveries', { cursor, limit: 1 }, signal)).rows[0];
}
