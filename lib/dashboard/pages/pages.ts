// The bundler merges styles into one file only if they are imported together with the first page.
import './dead/dead.css';
import './deliveries/deliveries.css';
import './destinations/destinations.css';
import './explain/explain.css';
import './live/live.css';
import './users/users.css';
import { lazyPage } from './lazy.page.js';
import { OverviewPage } from './overview/overview.page.js';
import type { Page } from './page.interface.js';

/** All pages, in the order of the navigation. The first is the start page; the others are loaded when first opened. */
export const pages: Page[] = [
  { name: 'overview', title: 'Overview', Component: OverviewPage },
  { name: 'live', title: 'Live', Component: lazyPage(async () => (await import('./live/live.page.js')).LivePage) },
  {
    name: 'deliveries',
    title: 'Deliveries',
    Component: lazyPage(async () => (await import('./deliveries/deliveries.page.js')).DeliveriesPage),
  },
  { name: 'dead', title: 'Dead', Component: lazyPage(async () => (await import('./dead/dead.page.js')).DeadPage) },
  {
    name: 'destinations',
    title: 'Destinations',
    Component: lazyPage(async () => (await import('./destinations/destinations.page.js')).DestinationsPage),
  },
  {
    name: 'sources',
    title: 'Sources',
    Component: lazyPage(async () => (await import('./sources/sources.page.js')).SourcesPage),
  },
  {
    name: 'explain',
    title: 'Explain',
    Component: lazyPage(async () => (await import('./explain/explain.page.js')).ExplainPage),
  },
  { name: 'users', title: 'Users', Component: lazyPage(async () => (await import('./users/users.page.js')).UsersPage) },
];
