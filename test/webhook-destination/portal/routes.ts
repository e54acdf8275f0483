/** What an id in a path is of; `undefined` if the path has none. */
export type IdKind = 'endpoint' | 'delivery' | undefined;

export interface PortalRow {
  method: string;
  /** Path below the API, with `:id`. */
  path: string;
  id: IdKind;
  /** Whether it needs a link that may write. */
  needsWrite: boolean;
  /** A valid body. */
  body?: object;
}

/** Every route of the portal's API, in an order in which each succeeds. `matrix.spec.ts` fails without one. */
export const PORTAL_ROUTES: PortalRow[] = [
  { method: 'GET', path: 'session', id: undefined, needsWrite: false },
  { method: 'GET', path: 'events', id: undefined, needsWrite: false },
  { method: 'GET', path: 'events/openapi', id: undefined, needsWrite: false },
  { method: 'GET', path: 'events/asyncapi', id: undefined, needsWrite: false },
  { method: 'GET', path: 'endpoints', id: undefined, needsWrite: false },
  { method: 'GET', path: 'endpoints/:id', id: 'endpoint', needsWrite: false },
  { method: 'GET', path: 'endpoints/:id/deliveries', id: 'endpoint', needsWrite: false },
  { method: 'GET', path: 'deliveries/:id', id: 'delivery', needsWrite: false },
  { method: 'POST', path: 'deliveries/:id/replay', id: 'delivery', needsWrite: true, body: {} },
  { method: 'POST', path: 'endpoints/:id/replays', id: 'endpoint', needsWrite: true, body: { since: 0 } },
  { method: 'GET', path: 'endpoints/:id/secret', id: 'endpoint', needsWrite: true },
  { method: 'POST', path: 'endpoints/:id/rotate-secret', id: 'endpoint', needsWrite: true, body: { overlap: 0 } },
  { method: 'POST', path: 'endpoints/:id/test', id: 'endpoint', needsWrite: true, body: { event: 'Ordered' } },
  { method: 'POST', path: 'endpoints/:id/pause', id: 'endpoint', needsWrite: true, body: {} },
  { method: 'POST', path: 'endpoints/:id/resume', id: 'endpoint', needsWrite: true, body: {} },
  { method: 'POST', path: 'endpoints/:id/enable', id: 'endpoint', needsWrite: true, body: {} },
  { method: 'PATCH', path: 'endpoints/:id', id: 'endpoint', needsWrite: true, body: { description: 'Shop' } },
  { method: 'DELETE', path: 'endpoints/:id', id: 'endpoint', needsWrite: true },
  {
    method: 'POST',
    path: 'endpoints',
    id: undefined,
    needsWrite: true,
    body: { url: 'https://receiver.example/hook' },
  },
];
