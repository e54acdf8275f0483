import type { ComponentType } from 'preact';

import type { Route } from '../shell/hash.router.js';

/** A page of the dashboard, at `#/<name>`. */
export interface Page {
  name: string;
  /** Title in the navigation and of the window. */
  title: string;
  Component: ComponentType<{ route: Route }>;
}
