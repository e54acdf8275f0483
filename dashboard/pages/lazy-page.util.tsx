import { useEffect } from 'preact/hooks';

import { get } from '../api/api.client.js';
import { Button } from '../components/button.component.js';
import { EmptyState } from '../components/empty-state.component.js';
import { lazyComponent } from '../components/lazy.component.js';
import { PageHeading } from '../components/page-heading.component.js';
import { session } from '../shell/session.state.js';
import type { Page } from './page.interface.js';

/** Creates a page from the default export of a file, which is loaded when the page is first opened. */
export function lazyPage(load: () => Promise<{ default: Page['Component'] }>): Page['Component'] {
  return lazyComponent(load, { Loading: LoadingPage, Failed: FailedPage });
}

function LoadingPage() {
  return <p role="status">Loading…</p>;
}

/** Offers to reload the dashboard, because a newer release of the relay has other files. */
function FailedPage() {
  useEffect(reloadOnceSignedIn, []);
  return (
    <>
      <PageHeading title="This page could not be loaded" />
      <EmptyState title="The relay may have been updated, or is not reachable.">
        <Button onClick={() => location.reload()}>Reload the dashboard</Button>
      </EmptyState>
    </>
  );
}

/** Asks to sign in again if the session has ended, which is another reason why the page could not be loaded. */
function reloadOnceSignedIn(): () => void {
  let hasEnded = false;
  const stop = session.subscribe((now) => {
    hasEnded ||= now.state === 'in' && now.ended !== undefined;
  });
  void get('session').then(
    () => hasEnded && location.reload(),
    () => undefined,
  );
  return stop;
}
