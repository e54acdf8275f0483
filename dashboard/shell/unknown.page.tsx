import { EmptyState } from '../components/empty-state.component.js';
import { PageHeading } from '../components/page-heading.component.js';

/** Shown for a hash that names no page. */
export function UnknownPage() {
  return (
    <>
      <PageHeading title="Unknown page" />
      <EmptyState title="The dashboard has no page at this address.">
        <a href="#/">Go to the overview</a>
      </EmptyState>
    </>
  );
}
