import { PAGE_FIELDS } from '../../http/query.reader.js';
import { refuseFields, RequestError } from '../../http/request.error.js';
import type { DeliveryRecord, KeptSince } from '../../queue/delivery.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { countDeliveries } from './delivery-count.js';
import { readPage, readSearch, SEARCH_FIELDS, showDelivery, showPortion } from './delivery.view.js';
import type { ReplayJobs } from './replay.jobs.js';
import { readState, STATES_TEXT } from './replay.request.js';
import { findByText } from './text-search.js';

/** Routes of deliveries: search, one delivery, its replay, those of a user; and the search for whatever a text names. */
export function deliveryRoutes(relay: AdminRelay, own: AdminProcess, jobs: ReplayJobs): ApiRoute[] {
  const find = async (id: string): Promise<DeliveryRecord> => {
    const [record] = await relay.deliveries({ id });
    if (record) return record;
    throw new RequestError('delivery_unknown', 'the queue has no delivery with this id', 'id');
  };
  return [
    readRoute(
      'search',
      'What an id or a value names: deliveries, a bulk replay, destinations and sources, at most 10 of each kind',
      async ({ query, counted }) => findByText(query.text('text'), relay, own, jobs, counted),
      { text: 'id of anything, value of one of search.fields, or part of a name or of a value of metadata' },
    ),
    readRoute(
      'deliveries',
      'Search deliveries, newest first; a portion has the cursor of the next one',
      async ({ query, counted }) => {
        const search = readSearch(query);
        const portion = await showPortion(await own.queue.searches.search(search, readPage(query), counted));
        return { ...portion, deliveredSince: firstOf(await own.figures.keptSince(), search.destination) };
      },
      { ...SEARCH_FIELDS, ...PAGE_FIELDS },
    ),
    // Before the route of one delivery, which it would be otherwise.
    readRoute(
      'deliveries/count',
      'Count deliveries, by destination, source, state and class of reasons; a cursor says that there may be more',
      ({ query, counted }) => countDeliveries(own.queue, readSearch(query), query.text('cursor'), counted),
      { ...SEARCH_FIELDS, cursor: PAGE_FIELDS.cursor },
    ),
    readRoute('deliveries/:id', 'One delivery, with its body, attempts, routing and request', async ({ params }) => {
      const record = await find(params.id!);
      return { ...showDelivery(record), ...(await own.explainer.explainDelivery(record)) };
    }),
    changeRoute(
      'POST',
      'deliveries/:id/replay',
      'Send a dead or delivered delivery again, or one that waits for a retry now',
      async ({ params, body, audit }) => {
        const { state: given, ...others } = body;
        refuseFields(others); // a misspelt `state` would replay a delivery in any state
        const { id, state, destination, messageId } = await find(params.id!);
        const expected = readState(given, state);
        if (expected !== state || (await relay.replay({ id, state })) === 0) {
          const now = (await find(id)).state;
          const rule = `only a delivery that is ${STATES_TEXT} is replayed, and in the state of the request; this one is ${now}`;
          throw new RequestError('delivery_not_replayed', rule, 'id');
        }
        audit({ action: 'delivery.replay', target: id, details: { state, destination, messageId } });
        return { replayed: 1 };
      },
      {
        type: 'object',
        properties: {
          state: {
            type: 'string',
            description: `state that the delivery must have: ${STATES_TEXT}; default: any of these`,
          },
        },
      },
    ),
    readRoute(
      'users/:userId',
      'Deliveries of a user in the queue, newest first; a portion has the cursor of the next one',
      async ({ params, query, counted }) => {
        const userId = params.userId!;
        return {
          userId,
          ...(await showPortion(await own.queue.searches.search({ userId }, readPage(query), counted))),
        };
      },
      PAGE_FIELDS,
    ),
  ];
}

/** Returns the first time since which a destination, or any, has records of delivered messages; null without one. */
function firstOf(kept: KeptSince[], destination: string | undefined): number | null {
  const times = kept.filter((one) => one.destination === (destination ?? one.destination)).map(({ since }) => since);
  return times.length === 0 ? null : times.reduce((first, since) => Math.min(first, since));
}
