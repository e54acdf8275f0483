import type { ComponentType } from 'preact';

import type { Route } from '../shell/hash.router.js';

/** A page of the dashboard, at `#/<name>`. */
export interface Page {
  name: string;
  /** Title in the navigation and of the window. */
  title: string;
  /** Whether the navigation has no link to it. */
  isUnlisted?: true;
  Component: ComponentType<{ route: Route }>;
}
