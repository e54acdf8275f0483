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
  const search: DeliverySearch = readSearch(toReader(query));
  return { search: { ...search, state: readState(search.state, 'dead') }, expected, rate };
}

/** Reads an object of the body like the query of a URL. */
function toReader(query: unknown): QueryReader {
  if (!isPlainObject(query)) throw new RequestError('query_invalid', 'query must be an object', 'query');
  const params = new URLSearchParams();
  for (const [field, value] of Object.entries(query)) {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new RequestError('query_invalid', `${field} must be a string or a number`, field);
    }
    params.append(field, String(value));
  }
  return new QueryReader(params, SEARCH_FIELDS);
}
