import { isPlainObject } from '../../../client/message/message.rules.js';
import { RequestError } from '../../http/request.error.js';
import { type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { readSearch, SEARCH_FIELDS } from './delivery.view.js';
import { QueryReader } from './query.reader.js';
import type { ReplayJobs } from './replay.jobs.js';

const SEARCH_SCHEMA = Object.fromEntries(
  Object.entries(SEARCH_FIELDS).map(([name, description]) => [name, { type: 'string' as const, description }]),
);

/** Fields whose values are the relay's own. */
const OF_RELAY = ['state', 'destination', 'source', 'type', 'release', 'reason', 'from', 'to'];

/** Routes of bulk replays: start, progress, cancel. */
export function replayRoutes(jobs: ReplayJobs): ApiRoute[] {
  return [
    changeRoute(
      'POST',
      'replays',
      'Send all matching dead deliveries again, if their number is as expected',
      async ({ body, audit }) => {
        const { query, expected } = body;
        if (!Number.isSafeInteger(expected) || (expected as number) < 0) {
          throw new RequestError('expected_invalid', 'expected must be a whole number, 0 or above', 'expected');
        }
        const job = await jobs.start(readSearch(toReader(query)), expected as number);
        audit({
          action: 'deliveries.replay',
          target: job.id,
          details: { query: withoutData(query as object), expected },
        });
        return job;
      },
      {
        type: 'object',
        required: ['query', 'expected'],
        properties: {
          query: { type: 'object', properties: SEARCH_SCHEMA },
          expected: { type: 'integer', description: 'number of matching deliveries that the caller has seen' },
        },
      },
    ),
    readRoute('replays/:id', 'Progress of a replay of many', ({ params }) => jobs.find(params.id!)),
    changeRoute('DELETE', 'replays/:id', 'Cancel a replay of many', async ({ params, audit }) => {
      const job = await jobs.find(params.id!, true);
      audit({ action: 'deliveries.replay.cancel', target: job.id, details: { done: job.done, left: job.left } });
      return job;
    }),
  ];
}

/** Returns a query for the audit log: without the values that messages have. */
function withoutData(query: object): object {
  return Object.fromEntries(
    Object.entries(query).map(([field, value]) => [field, OF_RELAY.includes(field) ? value : '***']),
  );
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
