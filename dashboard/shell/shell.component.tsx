import { useEffect } from 'preact/hooks';

import { pages } from '../pages/pages.js';
import { route } from './hash.router.js';
import { focusHeading, useFocusOnHeading } from './heading.focus.js';
import { Navigation } from './navigation.component.js';
import { PageBoundary } from './page.boundary.js';
import type { Session } from './session.state.js';
import { TopBar } from './top-bar.component.js';
import { UnknownPage } from './unknown.page.js';

/** Top bar, navigation, and the page named by the hash. */
export function Shell({ session }: { session: Session & { state: 'in' } }) {
  const current = route.value;
  const name = current.page || pages[0]!.name;
  const page = pages.find((candidate) => candidate.name === name);
  const place = [name, ...current.rest].join('/');
  useFocusOnHeading(place, () => window.scrollTo(0, 0)); // the first page is left to the browser
  useEffect(() => {
    document.title = `${page?.title ?? 'Unknown page'} · Analytics relay`;
  }, [page]);
  const Component = page?.Component ?? UnknownPage;
  return (
    <div class="shell">
      <button class="skip-link button primary" type="button" onClick={focusHeading}>
        Skip to content
      </button>
      <TopBar session={session} />
      <Navigation current={name} />
      <main id="main">
        <PageBoundary key={place}>
          <Component route={current} />
        </PageBoundary>
      </main>
    </div>
  );
}
