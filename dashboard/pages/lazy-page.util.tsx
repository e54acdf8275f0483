import { useEffect, useState } from 'preact/hooks';

import { Button } from '../components/button.component.js';
import { EmptyState } from '../components/empty-state.component.js';
import { PageHeading } from '../components/page-heading.component.js';
import type { Page } from './page.interface.js';

type PageComponent = Page['Component'];

/** Creates a page from the default export of a file, which is loaded when the page is first opened. */
export function lazyPage(load: () => Promise<{ default: PageComponent }>): PageComponent {
  let loaded: PageComponent | undefined;
  return function LazyPage({ route }) {
    const [state, setState] = useState<{ Component?: PageComponent | undefined; failed?: boolean }>({
      Component: loaded,
    });
    useEffect(() => {
      if (state.Component) return; // another instance may have loaded the file since this one was rendered
      load().then(
        (file) => {
          loaded = file.default;
          setState({ Component: loaded });
        },
        () => setState({ failed: true }),
      );
    }, []);
    if (state.failed) return <FailedPage />;
    return state.Component ? <state.Component route={route} /> : <p role="status">Loading…</p>;
  };
}

/** Offers to reload the dashboard, because a newer release of the relay has other files. */
function FailedPage() {
  return (
    <>
      <PageHeading title="This page could not be loaded" />
      <EmptyState title="The relay may have been updated, or is not reachable.">
        <Button onClick={() => location.reload()}>Reload the dashboard</Button>
      </EmptyState>
    </>
  );
}
