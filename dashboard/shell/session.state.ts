import { computed, signal } from '@preact/signals';

import { BASE, get, request, whenUnauthorized } from '../api/api.client.js';
import type { ApiError } from '../api/api.error.js';
import { readStored, store } from './browser-storage.util.js';

/** What the caller may do. */
interface Holder {
  access: 'read' | 'write';
  user?: string | undefined;
  /** Value of the option `search.fields`. */
  searchFields: string[];
}

/** Whether the browser is signed in, and what it may do. */
export type Session = { state: 'unknown' } | { state: 'out'; why?: string } | ({ state: 'in' } & Holder);

/** Whether users sign in with a token or the application's guard decides. The server writes it into the page. */
export const signsInBy = document.documentElement.dataset.signIn === 'guard' ? 'guard' : 'token';

export const session = signal<Session>({ state: 'unknown' });

/** Fields of messages by whose values deliveries are found at once. */
export const searchFields = computed(() => (session.value.state === 'in' ? session.value.searchFields : []));

/** Whether the caller may change something. */
export const canChange = computed(() => session.value.state === 'in' && session.value.access === 'write');

/**
 * Storage key of the session's end. The cookie itself cannot be read; the entry saves a request that would be refused.
 */
const HINT = `relay-session ${BASE.pathname}`;

whenUnauthorized(() => {
  const wasIn = session.value.state === 'in';
  store(HINT, undefined);
  if (wasIn) session.value = { state: 'out', why: 'Your session has ended. Sign in again to continue.' };
});

// Another tab signed in or out.
window.addEventListener('storage', ({ key }) => {
  if (key === HINT) void restoreSession();
});

/** Checks whether there is already a session. */
export async function restoreSession(): Promise<void> {
  if (signsInBy === 'token' && !isExpected()) {
    session.value = { state: 'out' };
    return;
  }
  try {
    const { access, user, searchFields } = await get<Holder>('session');
    session.value = { state: 'in', access, user, searchFields };
  } catch (error) {
    session.value = { state: 'out', why: whyRefused(error as ApiError) };
  }
}

/** @throws {ApiError} for a wrong token, or after too many wrong tokens */
export async function signIn(token: string): Promise<void> {
  const { expiresAt, access, user, searchFields } = await request<Holder & { expiresAt: number }>('POST', 'session', {
    body: { token, base: BASE.pathname.slice(0, -1) },
  });
  store(HINT, String(expiresAt));
  session.value = { state: 'in', access, user, searchFields };
}

/** @throws {ApiError} if the relay could not clear the cookie */
export async function signOut(): Promise<void> {
  await request('DELETE', 'session', { body: { base: BASE.pathname.slice(0, -1) } });
  store(HINT, undefined);
  session.value = { state: 'out' };
}

function whyRefused({ status, message }: ApiError): string | undefined {
  if (status !== 401) return message;
  return signsInBy === 'guard' ? `The application's guard refused access: ${message}` : 'Your session has ended.';
}

/** Whether there may be a session. If the storage cannot be read, the relay decides. */
function isExpected(): boolean {
  const end = readStored(HINT);
  return end === undefined || Number(end) > Date.now();
}
