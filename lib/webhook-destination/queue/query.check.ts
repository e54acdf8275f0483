import type { DeliveryPage, DeliveryQuery } from './delivery-queue.interface.js';

const TYPES: Record<keyof DeliveryQuery, 'string' | 'number'> = {
  id: 'string',
  destination: 'string',
  source: 'string',
  state: 'string',
  messageId: 'string',
  userId: 'string',
  reason: 'string',
  acceptedBefore: 'number',
};

/**
 * The fields of a query that are given, and nothing else of what a caller has passed. One that names a reason is for
 * dead deliveries.
 * @throws {Error} that names the field at fault: a misspelt one would let a query match everything
 */
export function checkQuery(query: DeliveryQuery): DeliveryQuery {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  for (const [field, value] of given) {
    if (!Object.hasOwn(TYPES, field)) throw new Error(`a query has no field ${JSON.stringify(field)}`);
    const type = TYPES[field as keyof DeliveryQuery];
    if (typeof value !== type) throw new Error(`${field} of a query must be a ${type}`);
  }
  const checked: DeliveryQuery = Object.fromEntries(given);
  if (checked.reason === undefined) return checked;
  if ((checked.state ?? 'dead') !== 'dead') throw new Error('state of a query with a reason must be dead');
  return { ...checked, state: 'dead' };
}

/**
 * The same for a page.
 * @throws {Error} that names the field at fault
 */
export function checkPage({ limit, after }: DeliveryPage): DeliveryPage {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new Error('limit of a page must be a whole number, 0 or above');
  }
  if (after !== undefined && typeof after !== 'string') throw new Error('after of a page must be a string');
  return { limit, after };
}
