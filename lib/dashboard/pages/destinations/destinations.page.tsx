import { useEffect, useRef } from 'preact/hooks';

import type { Route } from '../../shell/hash.router.js';
import { focusHeading } from '../../shell/heading.focus.js';
import { CreateDestination } from './create-destination.component.js';
import { DestinationList } from './destination-list.component.js';
import { DestinationView } from './destination-view.component.js';

/** `#/destinations`, `#/destinations?create=true` and `#/destinations/<name>`. */
export function DestinationsPage({ route: { rest, query } }: { route: Route }) {
  const [name = ''] = rest;
  useFocusOnHeading(query.has('edit') || query.has('create'));
  if (name !== '') return <DestinationView name={name} isEdited={query.has('edit')} />;
  return query.has('create') ? <CreateDestination /> : <DestinationList query={query} />;
}

/** Focuses the heading when a form opens or closes, because the button that had the focus is gone. */
function useFocusOnHeading(hasForm: boolean): void {
  const shown = useRef(hasForm);
  useEffect(() => {
    if (shown.current === hasForm) return;
    shown.current = hasForm;
    focusHeading();
  }, [hasForm]);
}
