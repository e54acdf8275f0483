import type { Route } from '../../../dashboard/shell/hash.router.js';
import { lazyPage } from '../lazy-page.util.js';
import { EndpointList } from './endpoint-list.component.js';

const NewEndpoint = lazyPage(() => import('./new-endpoint.component.js'));
const EditEndpoint = lazyPage(() => import('./edit-endpoint.component.js'));
const EndpointView = lazyPage(() => import('./endpoint-view.component.js'));

/** The list of endpoints, one of them, or a form: `#/endpoints/<id>/edit`. */
export function EndpointsPage({ route: { rest, query } }: { route: Route }) {
  const [id, action] = rest;
  if (!id) return <EndpointList />;
  if (id === 'new') return <NewEndpoint />;
  return action === 'edit' ? <EditEndpoint id={id} /> : <EndpointView id={id} query={query} />;
}
