import type { Page } from '../../dashboard/pages/page.interface.js';
import { words } from '../words/words.js';
import { EndpointsPage } from './endpoints/endpoints.page.js';
import { lazyPage } from './lazy-page.util.js';

/** All pages, in the order of the navigation. The first is the start page; the others are loaded when first opened. */
export const pages: Page[] = [
  { name: 'endpoints', title: words.endpoints.title, Component: EndpointsPage },
  { name: 'events', title: words.events.title, Component: lazyPage(() => import('./events/events.page.js')) },
  {
    name: 'signatures',
    title: words.signatures.title,
    Component: lazyPage(() => import('./signatures/signatures.page.js')),
  },
  {
    name: 'deliveries',
    title: words.delivery.plainTitle,
    isUnlisted: true,
    Component: lazyPage(() => import('./deliveries/delivery.page.js')),
  },
];
