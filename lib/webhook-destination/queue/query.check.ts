import type { Delivery, DeliveryPage, DeliveryQuery, DeliveryState } from './delivery-queue.interface.js';

const STATES: readonly DeliveryState[] = ['queued', 'delivering', 'waiting', 'delivered', 'dead'];

/** Most names in a list of a query. */
export const MAX_NAMES = 1_000;

/** A query as the engines get it: its fields are right, and its lists are looked up in. */
export interface CheckedQuery extends Omit<DeliveryQuery, 'source' | 'userId'> {
  source?: ReadonlySet<string>;
  userId?: ReadonlySet<string>;
}

const TYPES: Record<keyof DeliveryQuery, 'string' | 'number' | 'names'> = {
  id: 'string',
  destination: 'string',
  source: 'names',
  state: 'string',
  messageId: 'string',
  userId: 'names',
  reason: 'string',
  acceptedBefore: 'number',
};

/**
 * The fields of a query that are given, and nothing else of what a caller has passed. One that names a reason is for
 * dead deliveries.
 * @throws {Error} that names the field at fault: a misspelt one would let a query match everything
 */
export function checkQuery(query: DeliveryQuery): CheckedQuery {
  if (typeof query !== 'object' || query === null) throw new Error('a query must be an object');
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const checked: CheckedQuery = Object.fromEntries(given.map(([field, value]) => [field, checkField(field, value)]));
  const { state } = checked;
  if (state !== undefined && !STATES.includes(state)) {
    throw new Error(`state of a query must be one of ${STATES.join(', ')}`);
  }
  if (checked.reason === undefined) return checked;
  if ((state ?? 'dead') !== 'dead') throw new Error('state of a query with a reason must be dead');
  return { ...checked, state: 'dead' };
}

function checkField(field: string, value: unknown): unknown {
  if (!Object.hasOwn(TYPES, field)) throw new Error(`a query has no field ${JSON.stringify(field)}`);
  const type = TYPES[field as keyof DeliveryQuery];
  if (type !== 'names') {
    if (typeof value !== type) throw new Error(`${field} of a query must be a ${type}`);
    return value;
  }
  const names: unknown[] = Array.isArray(value) ? value : [value];
  if (names.length === 0 || names.length > MAX_NAMES || !names.every((name) => typeof name === 'string')) {
    throw new Error(`${field} of a query must be a string or a list of 1 to ${MAX_NAMES} strings`);
  }
  return new Set(names);
}

/** Whether a delivery has what a query asks of its message; state, reason and id aside. */
export function matchesMessage(
  delivery: Pick<Delivery, 'destination' | 'source' | 'messageId' | 'userId' | 'acceptedAt'>,
  { destination, source, messageId, userId, acceptedBefore = Infinity }: CheckedQuery,
): boolean {
  return (
    delivery.acceptedAt < acceptedBefore &&
    (destination === undefined || destination === delivery.destination) &&
    (messageId === undefined || messageId === delivery.messageId) &&
    (source === undefined || source.has(delivery.source)) &&
    (userId === undefined || (delivery.userId !== undefined && userId.has(delivery.userId)))
  );
}

/**
 * The same for a page.
 * @throws {Error} that names the field at fault
 */
export function checkPage(page: DeliveryPage): DeliveryPage {
  if (typeof page !== 'object' || page === null) throw new Error('a page must be an object');
  const { limit, after } = page;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new Error('limit of a page must be a whole number, 0 or above');
  }
  if (after !== undefined && typeof after !== 'string') throw new Error('after of a page must be a string');
  return { limit, after };
}
