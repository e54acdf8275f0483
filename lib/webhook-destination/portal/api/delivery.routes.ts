import { PAGE_FIELDS } from '../../http/query.reader.js';
import { SHOWN_STATES, type ShownState } from '../delivery.view.js';
import type { TenantDeliveries } from '../tenant.deliveries.js';
import type { TenantEndpoints } from '../tenant.endpoints.js';
import { readFields, readSince } from './portal.fields.js';
import type { PortalRoute } from './portal.route.js';
import * as schemas from './portal.schemas.js';

const STATES = Object.keys(SHOWN_STATES) as ShownState[];

/** Routes of deliveries: those of an endpoint, one, and replays. */
export function deliveryRoutes(endpoints: TenantEndpoints, deliveries: TenantDeliveries): PortalRoute[] {
  return [
    {
      method: 'GET',
      path: 'endpoints/:id/deliveries',
      access: 'read',
      summary: 'Deliveries of an endpoint, newest first; a portion has the cursor of the next one',
      query: {
        state: `one of ${STATES.join(', ')}`,
        event: 'name of the event',
        since: 'accepted at this time or later: ms since the epoch, or ISO 8601',
        ...PAGE_FIELDS,
      },
      answer: schemas.DELIVERIES,
      handle: async ({ caller: { tenant }, counted, params, query }) => {
        const endpoint = await endpoints.find(tenant, params.id!);
        const search = {
          state: query.oneOf('state', STATES),
          event: query.text('event'),
          since: query.time('since'),
          cursor: query.text('cursor'),
          limit: query.limit,
        };
        return deliveries.search(endpoint, tenant, search, counted);
      },
    },
    {
      method: 'POST',
      path: 'endpoints/:id/replays',
      access: 'write',
      summary: 'Send all dead deliveries again that were accepted since a time, at most 10,000',
      schema: schemas.SINCE,
      answer: schemas.REPLAYED,
      handle: async ({ caller: { tenant }, counted, params, body, audit }) => {
        const endpoint = await endpoints.find(tenant, params.id!);
        const since = readSince(readFields(body, 'since').since);
        const { replayed, more } = await deliveries.replaySince(endpoint, since, counted);
        audit({ action: 'endpoint.replay', target: endpoint.name, details: { since, replayed } });
        return { replayed, ...(more && { more }) };
      },
    },
    {
      method: 'GET',
      path: 'deliveries/:id',
      access: 'read',
      summary: 'One delivery, with its body and attempts',
      answer: schemas.DELIVERY,
      handle: ({ caller: { tenant }, params }) => deliveries.find(tenant, params.id!),
    },
    {
      method: 'POST',
      path: 'deliveries/:id/replay',
      access: 'write',
      summary: 'Send a dead or delivered delivery again, or one that waits for a retry now',
      answer: schemas.REPLAYED,
      handle: async ({ caller: { tenant }, params, body, audit }) => {
        readFields(body);
        const { id, state, destination, messageId } = await deliveries.replay(tenant, params.id!);
        audit({ action: 'delivery.replay', target: id, details: { state, destination, messageId } });
        return { replayed: 1 };
      },
    },
  ];
}
