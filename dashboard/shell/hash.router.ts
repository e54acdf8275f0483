import { signal } from '@preact/signals';

import { type Query, toSearch } from '../api/api.client.js';
import { enterHistory } from './history-entry.state.js';

/** A parsed hash, such as `#/deliveries/d1?state=dead`. */
export interface Route {
  /** Name of the page; empty for the first one. */
  page: string;
  /** Decoded parts of the path after the page. */
  rest: string[];
  query: URLSearchParams;
}

export const route = signal<Route>(parseHash(location.hash));

window.addEventListener('hashchange', readHash);

/** Shows the page of the address, after a change of the address that is no navigation. */
export function readHash(): void {
  enterHistory();
  route.value = parseHash(location.hash);
}

/** Returns a link to a page; query fields without a value are omitted. */
export function hrefOf(page: string, query: Query = {}, ...rest: string[]): string {
  return `#/${[page, ...rest].map(encodeURIComponent).join('/')}${toSearch(query)}`;
}

/** Navigates to a link of {@link hrefOf}. */
export function goTo(href: string): void {
  location.hash = href;
}

/** Changes the query of the current page, without a step in the history and without moving the focus. */
export function replaceQuery(query: Query): void {
  const { page, rest } = route.value;
  const href = hrefOf(page, query, ...rest);
  history.replaceState(history.state, '', href);
  route.value = parseHash(href);
}

function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  const [page = '', ...rest] = path.split('/').map(decode);
  return { page, rest, query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
