import { computed, signal } from '@preact/signals';

import type { SessionOptions } from '../../lib/webhook-destination/admin/api/session.routes.js';
import { BASE, get, request, whenUnauthorized } from '../api/api.client.js';
import { type ApiError, toSentence } from '../api/api.error.js';
import { readStored, store } from './browser-storage.util.js';

/** What the caller may do. */
interface Holder extends SessionOptions {
  access: 'read' | 'write';
  user?: string | undefined;
}

/** Whether the browser is signed in, and what it may do. */
export type Session =
  | { state: 'unknown' }
  | { state: 'out'; why?: string | undefined }
  // `ended` says why the session has ended: the page stays, and what was typed, until the user signs in again.
  | ({ state: 'in'; ended?: string | undefined } & Holder);

/** Whether users sign in with a token or the application's guard decides. The server writes it into the page. */
export const signsInBy = document.documentElement.dataset.signIn === 'guard' ? 'guard' : 'token';

export const session = signal<Session>({ state: 'unknown' });

/** Fields of messages by whose values deliveries are found at once. */
export const searchFields = computed(() => (session.value.state === 'in' ? session.value.searchFields : []));

/** Why no source or destination can be created; undefined if they can. */
export const whyNoEntries = computed(() =>
  session.value.state === 'in' && !session.value.hasStoredRegistry
    ? "The module has no registry: 'store', so entries are declared in the application's code."
    : undefined,
);

/** Whether the caller may change something. */
export const canChange = computed(() => session.value.state === 'in' && session.value.access === 'write');

const ENDED =
  signsInBy === 'guard'
    ? 'Your session has ended. Sign in to the application again, then try again.'
    : 'Your session has ended. Sign in again to continue.';

/**
 * Storage key of the session's end. The cookie itself cannot be read; the entry saves a request that would be refused.
 */
const HINT = `relay-session ${BASE.pathname}`;

whenUnauthorized(() => {
  store(HINT, undefined);
  if (session.value.state !== 'in') return undefined;
  end();
  return nextSignIn();
});

// Another tab signed in or out.
window.addEventListener('storage', ({ key }) => {
  if (key === HINT) void restoreSession();
});

/** Checks whether there is already a session. */
export async function restoreSession(): Promise<void> {
  if (signsInBy === 'token' && !isExpected()) return end();
  try {
    const holder = await get<Holder>('session', { failsSignedOut: true });
    session.value = { state: 'in', ...holder };
  } catch (error) {
    end(whyRefused(error as ApiError));
  }
}

/** @throws {ApiError} for a wrong token, or after too many wrong tokens */
export async function signIn(token: string): Promise<void> {
  const { expiresAt, ...holder } = await request<Holder & { expiresAt: number }>('POST', 'session', {
    body: { token, base: BASE.pathname.slice(0, -1) },
  });
  store(HINT, String(expiresAt));
  session.value = { state: 'in', ...holder };
}

/** @throws {ApiError} if the relay could not clear the cookie */
export async function signOut(): Promise<void> {
  await request('DELETE', 'session', { body: { base: BASE.pathname.slice(0, -1) } });
  store(HINT, undefined);
  session.value = { state: 'out' };
}

/** Ends the session; the page stays if there was one. */
function end(why?: string): void {
  const { value } = session;
  session.value = value.state === 'in' ? { ...value, ended: why ?? ENDED } : { state: 'out', why };
}

function nextSignIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.subscribe((current) => {
      if (current.state !== 'in' || current.ended !== undefined) return;
      resolve();
      stop();
    });
  });
}

function whyRefused(error: ApiError): string | undefined {
  const { status, message } = error;
  if (signsInBy === 'guard' && status === 403)
    return `${toSentence(error)} Sign in to the application, then try again.`;
  if (status !== 401) return toSentence(error);
  return signsInBy === 'guard' ? `The application's guard refused access: ${message}` : 'Your session has ended.';
}

/** Whether there may be a session. If the storage cannot be read, the relay decides. */
function isExpected(): boolean {
  const end = readStored(HINT);
  return end === undefined || Number(end) > Date.now();
}
