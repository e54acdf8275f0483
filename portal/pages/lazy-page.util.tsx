import type { ComponentType } from 'preact';

import { EmptyState } from '../../dashboard/components/empty-state.component.js';
import { lazyComponent } from '../../dashboard/components/lazy.component.js';
import { PageHeading } from '../../dashboard/components/page-heading.component.js';
import { Button } from '../components/button.component.js';
import { words } from '../words/words.js';

/** Creates a page, or a part of one, from the default export of a file, which is loaded when it is first opened. */
export function lazyPage<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  return lazyComponent(load, { Loading: LoadingPage, Failed: FailedPage });
}

function LoadingPage() {
  return <p role="status">{words.shell.loading}</p>;
}

/** Offers to load everything again, because a newer release has other files. */
function FailedPage() {
  return (
    <>
      <PageHeading title={words.shell.pageNotLoaded} />
      <EmptyState title={words.shell.pageNotLoadedHint}>
        <Button onClick={() => location.reload()}>{words.shell.reload}</Button>
      </EmptyState>
    </>
  );
}
