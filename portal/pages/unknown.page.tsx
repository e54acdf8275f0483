import { EmptyState } from '../../dashboard/components/empty-state.component.js';
import { PageHeading } from '../../dashboard/components/page-heading.component.js';
import { words } from '../words/words.js';

/** Shown for a hash that names no page. */
export function UnknownPage() {
  return (
    <>
      <PageHeading title={words.shell.unknown} />
      <EmptyState title={words.shell.unknownHint}>
        <a href="#/">{words.shell.toEndpoints}</a>
      </EmptyState>
    </>
  );
}
