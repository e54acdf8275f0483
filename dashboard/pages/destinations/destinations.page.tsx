import type { Route } from '../../shell/hash.router.js';
import { useFocusOnHeading } from '../../shell/heading.focus.js';
import { CreateDestination } from './create-destination.component.js';
import { DestinationList } from './destination-list.component.js';
import { DestinationView } from './destination-view.component.js';

/** `#/destinations`, `#/destinations?create=true` and `#/destinations/<name>`. */
export default function DestinationsPage({ route: { rest, query } }: { route: Route }) {
  const [name = ''] = rest;
  // When a form opens or closes, the button that had the focus is gone.
  useFocusOnHeading(query.has('edit') || query.has('create'));
  if (name !== '') return <DestinationView name={name} isEdited={query.has('edit')} />;
  return query.has('create') ? <CreateDestination /> : <DestinationList query={query} />;
}
