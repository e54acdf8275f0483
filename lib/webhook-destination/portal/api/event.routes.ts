import type { EventCatalogue } from '../event-catalogue.js';
import type { PortalOptions } from '../portal.options.js';
import type { PortalRoute } from './portal.route.js';
import * as schemas from './portal.schemas.js';

/** Routes of what the link lets its holder do, and of the events that the application sends. */
export function eventRoutes(
  catalogue: EventCatalogue,
  { brand }: Pick<PortalOptions, 'brand'>,
  maxEndpoints: number,
): PortalRoute[] {
  return [
    {
      method: 'GET',
      path: 'session',
      access: 'read',
      summary: 'What the link lets its holder do',
      answer: schemas.SESSION,
      handle: ({ caller }) => ({ ...caller, brand, limits: { endpoints: maxEndpoints } }),
    },
    {
      method: 'GET',
      path: 'events',
      access: 'read',
      summary: 'The events that the application sends',
      answer: schemas.EVENTS_ANSWER,
      handle: () => ({ events: catalogue.list() }),
    },
    {
      method: 'GET',
      path: 'events/openapi',
      access: 'read',
      summary: 'The events as an OpenAPI document',
      answer: schemas.DOCUMENT,
      handle: () => catalogue.openApi(),
    },
    {
      method: 'GET',
      path: 'events/asyncapi',
      access: 'read',
      summary: 'The events as an AsyncAPI document',
      answer: schemas.DOCUMENT,
      handle: () => catalogue.asyncApi(),
    },
  ];
}
