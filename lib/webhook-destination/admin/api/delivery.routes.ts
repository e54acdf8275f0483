import { RequestError } from '../../http/request.error.js';
import type { DeliveryRecord, KeptSince } from '../../queue/delivery.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { countDeliveries } from './delivery-count.js';
import { readPage, readSearch, SEARCH_FIELDS, showDelivery, showPortion } from './delivery.view.js';
import { PAGE_FIELDS } from './query.reader.js';

/** Routes of deliveries: search, one delivery, its replay, those of a user. */
export function deliveryRoutes(relay: AdminRelay, own: AdminProcess): ApiRoute[] {
  const find = async (id: string): Promise<DeliveryRecord> => {
    const [record] = await relay.deliveries({ id });
    if (record) return record;
    throw new RequestError('delivery_unknown', 'the queue has no delivery with this id', 'id');
  };
  return [
    readRoute(
      'deliveries',
      'Search deliveries, newest first; a portion has the cursor of the next one',
      async ({ query, counted }) => {
        const search = readSearch(query);
        const portion = await showPortion(await own.queue.search(search, readPage(query), counted));
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
    changeRoute('POST', 'deliveries/:id/replay', 'Send a dead delivery again', async ({ params, audit }) => {
      const { id, state, destination, messageId } = await find(params.id!);
      if ((await relay.replay(id)) === 0) {
        const rule = `only dead deliveries can be replayed; this one is ${state}`;
        throw new RequestError('delivery_not_dead', rule, 'id');
      }
      audit({ action: 'delivery.replay', target: id, details: { destination, messageId } });
      return { replayed: 1 };
    }),
    readRoute(
      'users/:userId',
      'Deliveries of a user in the queue, newest first; a portion has the cursor of the next one',
      async ({ params, query, counted }) => {
        const userId = params.userId!;
        return { userId, ...(await showPortion(await own.queue.search({ userId }, readPage(query), counted))) };
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
