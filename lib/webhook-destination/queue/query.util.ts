import { ArgumentError } from '../../common/relay.errors.js';
import { startOfReason } from './dead-reasons.js';
import {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryState,
} from './delivery.interface.js';

/** Maximum number of deliveries on a page that sets no limit. */
const PAGE_LIMIT = 100;

/** Maximum number of names in a list of a query. */
export const MAX_NAMES = 1_000;

/** A checked page, as engines receive it. */
export interface CheckedPage {
  limit: number;
  after: string | undefined;
  /** Whether the bodies may be left out, which makes reading many deliveries cheap. */
  isBodiless?: boolean;
}

/** A checked query, as engines receive it: its lists are sets, and a class of reasons is how they begin. */
export interface CheckedQuery extends Omit<DeliveryQuery, 'source' | 'userId'> {
  source?: ReadonlySet<string>;
  userId?: ReadonlySet<string>;
  /** How the dead-letter reason begins. */
  reasonStart?: string;
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
 * Checks a query and copies the fields that are set. A query with a reason selects dead deliveries.
 * @throws {ArgumentError} that names the field at fault: with a misspelt field ignored, a query would match everything
 */
export function checkQuery(query: DeliveryQuery): CheckedQuery {
  if (typeof query !== 'object' || query === null) throw new ArgumentError('a query must be an object');
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const checked: CheckedQuery = Object.fromEntries(given.map(([field, value]) => [field, checkField(field, value)]));
  const { state } = checked;
  if (state !== undefined && !DELIVERY_STATES.includes(state)) {
    throw new ArgumentError(`state of a query must be one of ${DELIVERY_STATES.join(', ')}`);
  }
  if (checked.reason === undefined) return checked;
  if ((state ?? 'dead') !== 'dead') throw new ArgumentError('state of a query with a reason must be dead');
  const { reason, ...others } = checked;
  const reasonStart = startOfReason(reason);
  return { ...others, state: 'dead', ...(reasonStart === undefined ? { reason } : { reasonStart }) };
}

function checkField(field: string, value: unknown): unknown {
  if (!Object.hasOwn(TYPES, field)) throw new ArgumentError(`a query has no field ${JSON.stringify(field)}`);
  const type = TYPES[field as keyof DeliveryQuery];
  if (type !== 'names') {
    if (typeof value !== type) throw new ArgumentError(`${field} of a query must be a ${type}`);
    return value;
  }
  const names: unknown[] = Array.isArray(value) ? value : [value];
  if (names.length === 0 || names.length > MAX_NAMES || !names.every((name) => typeof name === 'string')) {
    throw new ArgumentError(`${field} of a query must be a string or a list of 1 to ${MAX_NAMES} strings`);
  }
  return new Set(names);
}

/** Fields of a delivery that a query compares, besides state and reason. */
type MatchedDelivery = Pick<Delivery, 'id' | 'destination' | 'source' | 'messageId' | 'userId' | 'acceptedAt'>;

/** Whether a delivery with this state and reason matches a query. */
export function matches(
  query: CheckedQuery,
  { id, destination, source, messageId, userId, acceptedAt }: MatchedDelivery,
  state: DeliveryState,
  reason?: string | null,
): boolean {
  return (
    acceptedAt < (query.acceptedBefore ?? Infinity) &&
    id === (query.id ?? id) &&
    destination === (query.destination ?? destination) &&
    state === (query.state ?? state) &&
    messageId === (query.messageId ?? messageId) &&
    reason === (query.reason ?? reason) &&
    (query.reasonStart === undefined || reason?.startsWith(query.reasonStart) === true) &&
    (query.source?.has(source) ?? true) &&
    (query.userId === undefined || (userId !== undefined && query.userId.has(userId)))
  );
}

/**
 * Checks a page and fills in its default.
 * @throws {ArgumentError} that names the field at fault
 */
export function checkPage(page: DeliveryPage): CheckedPage {
  if (typeof page !== 'object' || page === null) throw new ArgumentError('a page must be an object');
  const { limit = PAGE_LIMIT, after } = page;
  if (!(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new ArgumentError('limit of a page must be a whole number, 0 or above');
  }
  if (after !== undefined && typeof after !== 'string') throw new ArgumentError('after of a page must be a string');
  return { limit, after };
}
