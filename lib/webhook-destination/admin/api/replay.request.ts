import { isPlainObject } from '../../../client/message/message.rules.js';
import { isWholeNumber } from '../../../common/value.util.js';
import { QueryReader } from '../../http/query.reader.js';
import { RequestError } from '../../http/request.error.js';
import type { DeliverySearch } from '../../queue/delivery-search.js';
import { type DeliveryState, isReplayable, type ReplayableState } from '../../queue/delivery.interface.js';
import { readSearch, SEARCH_FIELDS } from './delivery.view.js';
import type { ReplayRequest } from './replay.jobs.js';

/** Maximum number of deliveries in one replay. */
const MAX_REPLAYED = 1_000_000;

/** Maximum size of a query: processes tell each other about it, in PostgreSQL with at most 8,000 bytes. */
const MAX_QUERY_BYTES = 4_096;

/** Maximum rate of a replay, in deliveries per second. */
export const MAX_RATE = 10_000;

/** States that can be replayed, for an error. */
export const STATES_TEXT = 'waiting, delivered or dead';

/**
 * Reads the state that deliveries must have to be replayed.
 *
 * @param present if none is given
 * @throws {RequestError} 400
 */
export function readState<T extends DeliveryState>(given: unknown, present: T): T | ReplayableState {
  if (given === undefined) return present;
  if (isReplayable(given as DeliveryState)) return given as ReplayableState;
  throw new RequestError('state_invalid', `state must be ${STATES_TEXT}: the others are sent anyway`, 'state');
}

/**
 * Reads the body of `POST replays`.
 * @throws {RequestError} 400 that names the invalid field
 */
export function readReplay({ query, expected, rate }: Record<string, unknown>): ReplayRequest {
  if (!isWholeNumber(expected) || expected > MAX_REPLAYED) {
    const rule = `expected must be a whole number from 0 to ${MAX_REPLAYED}`;
    throw new RequestError('expected_invalid', rule, 'expected');
  }
  if (rate !== undefined && !(isWholeNumber(rate) && rate >= 1 && rate <= MAX_RATE)) {
    const rule = `rate must be a whole number of deliveries per second, from 1 to ${MAX_RATE}`;
    throw new RequestError('rate_invalid', rule, 'rate');
  }
  const params = toParams(query);
  const search: DeliverySearch = readSearch(new QueryReader(params, SEARCH_FIELDS));
  const state = readState(search.state, 'dead');
  return { search: { ...search, state }, query: { ...Object.fromEntries(params), state }, expected, rate };
}

/** Converts an object of the body to the query of a URL. */
function toParams(query: unknown): URLSearchParams {
  if (!isPlainObject(query)) throw new RequestError('query_invalid', 'query must be an object', 'query');
  const params = new URLSearchParams();
  for (const [field, value] of Object.entries(query)) {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new RequestError('query_invalid', `${field} must be a string or a number`, field);
    }
    params.append(field, String(value));
  }
  if (Buffer.byteLength(JSON.stringify(query)) > MAX_QUERY_BYTES) {
    throw new RequestError('query_invalid', `query must have at most ${MAX_QUERY_BYTES} bytes`, 'query');
  }
  return params;
}
