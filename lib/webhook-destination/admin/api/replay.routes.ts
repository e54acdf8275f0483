import { REPLAYABLE_STATES } from '../../queue/delivery.interface.js';
import { type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { SEARCH_FIELDS } from './delivery.view.js';
import type { ReplayJobs } from './replay.jobs.js';
import { MAX_RATE, readReplay } from './replay.request.js';

const SEARCH_SCHEMA = Object.fromEntries(
  Object.entries({ ...SEARCH_FIELDS, state: `one of ${REPLAYABLE_STATES.join(', ')}; default: dead` }).map(
    ([name, description]) => [name, { type: 'string' as const, description }],
  ),
);

/** Fields whose values are the relay's own. */
const OF_RELAY = ['state', 'destination', 'source', 'type', 'release', 'reason', 'status', 'from', 'to'];

/** Routes of bulk replays: start, progress, cancel. */
export function replayRoutes(jobs: ReplayJobs): ApiRoute[] {
  return [
    changeRoute(
      'POST',
      'replays',
      'Send all matching deliveries again, if their number is as expected',
      async ({ body, audit }) => {
        const request = readReplay(body);
        const job = await jobs.start(request);
        const { expected, rate } = request;
        const details = { query: withoutData(body.query as object), expected, ...(rate !== undefined && { rate }) };
        audit({ action: 'deliveries.replay', target: job.id, details });
        return job;
      },
      {
        type: 'object',
        required: ['query', 'expected'],
        properties: {
          query: { type: 'object', properties: SEARCH_SCHEMA },
          expected: { type: 'integer', description: 'number of matching deliveries that the caller has seen' },
          rate: {
            type: 'integer',
            description: `deliveries per second, 1 to ${MAX_RATE}; default: as many as the queue takes`,
          },
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
