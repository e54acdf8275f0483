import { refuseFields, RequestError } from '../../ingest/request.error.js';
import type { DeletionRequest } from '../deletion-request.js';
import type { DeliveryRecord } from '../../queue/delivery-queue.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRequest, type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { readPage, readSearch, SEARCH_FIELDS, showDelivery, showPortion } from './delivery.view.js';
import { PAGE_FIELDS } from './query.reader.js';

const DELETION = 'Delete the queued and kept data of a user, and notify the destinations';

const SOURCES_SCHEMA = { type: 'array', items: { type: 'string' } } as const;

/** Routes of deliveries (search, one delivery, its replay) and of users (their deliveries, their deletion). */
export function deliveryRoutes(relay: AdminRelay, own: AdminProcess): ApiRoute[] {
  const find = async (id: string): Promise<DeliveryRecord> => {
    const [record] = await relay.deliveries({ id });
    if (record) return record;
    throw new RequestError(404, 'delivery_unknown', 'the queue has no delivery with this id', 'id');
  };
  const deleteUser = async ({ audit }: ApiRequest, userId: string, body: Pick<DeletionRequest, 'sources'>) => {
    const { sources, ...others } = body;
    refuseFields(others);
    const result = await relay.requestDeletion({ userId, sources }); // checks both
    audit({ action: 'user.delete', target: userId, details: { sources, ...result } });
    return result;
  };
  return [
    readRoute(
      'deliveries',
      'Search deliveries, newest first; a portion has the cursor of the next one',
      async ({ query }) => showPortion(await relay.search(readSearch(query), readPage(query))),
      { ...SEARCH_FIELDS, ...PAGE_FIELDS },
    ),
    readRoute('deliveries/:id', 'One delivery, with its body, attempts, routing and request', async ({ params }) => {
      const record = await find(params.id!);
      return { ...showDelivery(record), ...(await own.explainer.explainDelivery(record)) };
    }),
    changeRoute('POST', 'deliveries/:id/replay', 'Send a dead delivery again', async ({ params, audit }) => {
      const { id, state, destination, messageId } = await find(params.id!);
      if ((await relay.replay(id)) === 0) {
        const rule = `only dead deliveries can be replayed; this one is ${state}`;
        throw new RequestError(409, 'delivery_not_dead', rule, 'id');
      }
      audit({ action: 'delivery.replay', target: id, details: { destination, messageId } });
      return { replayed: 1 };
    }),
    readRoute(
      'users/:userId',
      'Deliveries of a user in the queue, newest first; a portion has the cursor of the next one',
      async ({ params, query }) => {
        const userId = params.userId!;
        return { userId, ...(await showPortion(await relay.search({ userId }, readPage(query)))) };
      },
      PAGE_FIELDS,
    ),
    changeRoute(
      'DELETE',
      'users/:userId',
      `${DELETION}, like POST deletions`,
      (request) => deleteUser(request, request.params.userId!, request.body),
      { type: 'object', properties: { sources: SOURCES_SCHEMA } },
    ),
    changeRoute(
      'POST',
      'deletions',
      `${DELETION}, like POST /v1/delete; the id may be one that a path cannot contain`,
      (request) => {
        const { userId, ...others } = request.body as DeletionRequest; // requestDeletion checks it
        return deleteUser(request, userId!, others);
      },
      {
        type: 'object',
        required: ['userId'],
        properties: { userId: { type: 'string' }, sources: SOURCES_SCHEMA },
      },
    ),
  ];
}
