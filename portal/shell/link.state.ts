import { signal } from '@preact/signals';

import { BASE } from '../../dashboard/api/api.client.js';
import { readHash } from '../../dashboard/shell/hash.router.js';

/** The link that opened the page: its token identifies the customer. */
interface Link {
  /** Undefined if there is none, or it has ended. */
  token?: string | undefined;
  hasEnded: boolean;
}

export const link = signal<Link>({ hasEnded: false });

/** Whether another page shows this one in an iframe. */
export const isFramed = window.parent !== window;

const KEY = `portal-link ${BASE.pathname}`;

/**
 * Takes the token out of the address, now and whenever the application opens another link. It stays in memory; outside
 * of frames also in the session storage of the tab, so a reload keeps it.
 */
export function followLinks(): void {
  const token = tokenOf(location.hash);
  if (token === undefined) {
    link.value = { token: readStored(), hasEnded: false };
  } else {
    open(token, '');
  }
  window.addEventListener('hashchange', ({ oldURL }) => takeNew(new URL(oldURL).hash));
}

/** Ends the link, unless another one has replaced it. */
export function endLink(token: string | undefined): void {
  if (link.value.token !== token) return;
  store(undefined);
  link.value = { hasEnded: true };
}

function takeNew(hashBefore: string): void {
  const token = tokenOf(location.hash);
  if (token !== undefined) open(token, hashBefore);
}

/** @param hash of the page to show, in place of the token */
function open(token: string, hash: string): void {
  history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`);
  readHash(); // the router has taken the token for a page
  store(token);
  link.value = { token, hasEnded: false };
}

/** Pages begin with `#/`, so anything else is a token. */
function tokenOf(hash: string): string | undefined {
  return /^#[^/]/.test(hash) ? hash.slice(1) : undefined;
}

function readStored(): string | undefined {
  if (isFramed) return undefined;
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function store(token: string | undefined): void {
  if (isFramed) return;
  try {
    if (token === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // The browser refuses storage: the link lasts until the page is closed or loaded again.
  }
}
