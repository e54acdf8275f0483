// The bundler merges styles into one file only if they are imported together with the first page.
import './replays/replays.css';
import './deliveries/deliveries.css';
import './destinations/destinations.css';
import './explain/explain.css';
import './live/live.css';
import './users/users.css';
import { lazyPage } from './lazy-page.util.js';
import { OverviewPage } from './overview/overview.page.js';
import type { Page } from './page.interface.js';

/** All pages, in the order of the navigation. The first is the start page; the others are loaded when first opened. */
export const pages: Page[] = [
  { name: 'overview', title: 'Overview', Component: OverviewPage },
  { name: 'live', title: 'Live', Component: lazyPage(() => import('./live/live.page.js')) },
  { name: 'deliveries', title: 'Deliveries', Component: lazyPage(() => import('./deliveries/deliveries.page.js')) },
  { name: 'dead', title: 'Dead', Component: lazyPage(() => import('./dead/dead.page.js')) },
  {
    name: 'destinations',
    title: 'Destinations',
    Component: lazyPage(() => import('./destinations/destinations.page.js')),
  },
  { name: 'sources', title: 'Sources', Component: lazyPage(() => import('./sources/sources.page.js')) },
  { name: 'explain', title: 'Explain', Component: lazyPage(() => import('./explain/explain.page.js')) },
  { name: 'search', title: 'Search', isUnlisted: true, Component: lazyPage(() => import('./search/search.page.js')) },
  { name: 'users', title: 'Users', Component: lazyPage(() => import('./users/users.page.js')) },
  { name: 'activity', title: 'Activity', Component: lazyPage(() => import('./activity/activity.page.js')) },
];
