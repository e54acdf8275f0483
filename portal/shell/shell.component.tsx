import { useEffect } from 'preact/hooks';

import { ErrorBoundary } from '../../dashboard/components/error.boundary.js';
import { PageHeading } from '../../dashboard/components/page-heading.component.js';
import { hrefOf, route } from '../../dashboard/shell/hash.router.js';
import { focusHeading, useFocusOnHeading } from '../../dashboard/shell/heading.focus.js';
import type { Session } from '../api/portal.answers.js';
import { Notice } from '../components/notice.component.js';
import { clearNotice } from '../components/notice.state.js';
import { Problem } from '../components/problem.component.js';
import { pages } from '../pages/pages.js';
import { UnknownPage } from '../pages/unknown.page.js';
import { words } from '../words/words.js';
import { BackLink, Brand } from './brand.component.js';
import { isFramed } from './link.state.js';

/** Name of the application, navigation, and the page named by the hash. In a frame, the name is left to its page. */
export function Shell({ session: { access, brand } }: { session: Session }) {
  const current = route.value;
  const name = current.page || pages[0]!.name;
  const page = pages.find((candidate) => candidate.name === name);
  const section = name === 'deliveries' ? 'endpoints' : name;
  const place = [name, ...current.rest].join('/');
  useFocusOnHeading(place, () => {
    window.scrollTo(0, 0);
    clearNotice();
  });
  useEffect(() => {
    document.title = [page?.title ?? words.shell.unknown, brand?.name].filter(Boolean).join(' · ');
  }, [page, brand]);
  const Component = page?.Component ?? UnknownPage;
  return (
    <>
      <button class="skip-link button primary" type="button" onClick={() => focusHeading()}>
        {words.shell.skip}
      </button>
      <header>
        {!isFramed && (
          <div class="top spread">
            <Brand />
            <BackLink look="back" />
          </div>
        )}
        <div class="tabs spread">
          <nav aria-label={words.shell.pages}>
            <ul>
              {pages
                .filter(({ isUnlisted }) => !isUnlisted)
                .map(({ name: to, title }) => (
                  <li key={to}>
                    <a href={hrefOf(to)} aria-current={to === name ? 'page' : to === section ? 'true' : undefined}>
                      {title}
                    </a>
                  </li>
                ))}
            </ul>
          </nav>
          {access === 'read' && (
            <span class="badge warn" title={words.shell.readOnlyHint}>
              {words.shell.readOnly}
            </span>
          )}
        </div>
      </header>
      <main id="main">
        <Notice />
        <ErrorBoundary
          key={place}
          fallback={(error, onRetry) => (
            <>
              <PageHeading title={words.shell.pageFailed} />
              <Problem error={error} onRetry={onRetry} />
            </>
          )}
        >
          <Component route={current} />
        </ErrorBoundary>
      </main>
    </>
  );
}
