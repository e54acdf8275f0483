import type { ComponentChildren } from 'preact';

import { ErrorBoundary } from '../components/error.boundary.js';
import { PageHeading } from '../components/page-heading.component.js';
import { Problem } from '../components/problem.component.js';

/** Shows the error of a page that cannot be rendered; the navigation stays. */
export function PageBoundary({ children }: { children: ComponentChildren }) {
  const fallback = (error: unknown, onRetry: () => void) => (
    <>
      <PageHeading title="This page failed" />
      <Problem error={error} onRetry={onRetry} />
    </>
  );
  return <ErrorBoundary fallback={fallback}>{children}</ErrorBoundary>;
}
