import { useEffect } from 'preact/hooks';

import { toZone } from '../components/time.component.js';
import { pages } from '../pages/pages.js';
import { Account } from './account.component.js';
import { route } from './hash.router.js';
import { focusHeading, useFocusOnHeading } from './heading.focus.js';
import { isReturned } from './history-entry.state.js';
import { isMenuOpen, Navigation } from './navigation.component.js';
import { PageBoundary } from './page.boundary.js';
import type { Session } from './session.state.js';
import { TopBar } from './top-bar.component.js';
import { UnknownPage } from './unknown.page.js';

/** Top bar, navigation with the session, and the page named by the hash. */
export function Shell({ session }: { session: Session & { state: 'in' } }) {
  const current = route.value;
  const name = current.page || pages[0]!.name;
  const page = pages.find((candidate) => candidate.name === name);
  const place = [name, ...current.rest].join('/');
  useFocusOnHeading(place, () => {
    if (!isReturned()) window.scrollTo(0, 0);
  });
  useEffect(() => {
    document.title = `${page?.title ?? 'Unknown page'} · Analytics relay`;
  }, [page]);
  const Component = page?.Component ?? UnknownPage;
  return (
    <div class="shell">
      <button class="skip-link button primary" type="button" onClick={() => focusHeading(false)}>
        Skip to content
      </button>
      <TopBar session={session} />
      <div id="side" class={isMenuOpen.value ? 'side open' : 'side'}>
        <Navigation current={name} />
        <Account session={session} />
      </div>
      <main id="main">
        <PageBoundary key={place}>
          <Component route={current} />
        </PageBoundary>
        <p class="hint">{toZone()}</p>
      </main>
    </div>
  );
}
