import { ApiError } from './api.error.js';
import { exchange, toError } from './json.exchange.js';

/**
 * URL of the dashboard, with a trailing slash. All requests are relative to it, because a proxy may rewrite the path.
 */
export const BASE = new URL('.', location.href);

export type Query = Record<string, string | number | undefined>;

interface RequestOptions {
  query?: Query | undefined;
  /** Sent as JSON; a string must already be JSON. */
  body?: object | string | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the page asks by itself, so the request does not extend the session. */
  isPoll?: boolean | undefined;
  /** Fails without a session, rather than waiting for the next sign-in. */
  failsSignedOut?: boolean;
}

const NO_ANSWER = 'the relay did not answer; check that it is running, then try again';

/** A rotation made twice would end the secret in use at once. */
const MAYBE_DONE = 'the relay did not answer, but may have received the request; check before you try again';

/** Read once the user has signed in again. */
const ENDED = 'your session had ended, so nothing was changed; try again';

let onUnauthorized: () => Promise<void> | undefined = () => undefined;

/** Sets the listener for answers that end the session. It returns a promise of the next sign-in if there was one. */
export function whenUnauthorized(listener: typeof onUnauthorized): void {
  onUnauthorized = listener;
}

/** Returns a path with encoded values, as in path`users/${id}`. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** Returns a query with its `?`; fields without a value are omitted. */
export function toSearch(query: Query): string {
  const fields = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return fields.length > 0 ? `?${new URLSearchParams(fields).toString()}` : '';
}

/** Returns the URL of an admin API route. */
export function toUrl(route: string, query: Query = {}): URL {
  return new URL(`api/${route}${toSearch(query)}`, BASE);
}

/**
 * Sends a request to the admin API. If the session has ended, a `GET` waits for the next sign-in, so the page goes on
 * from there.
 *
 * @throws {ApiError} for any status but 2xx, and if there is no answer
 */
export async function request<T>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  route: string,
  options: RequestOptions = {},
): Promise<T> {
  const { query, body, signal, isPoll, failsSignedOut = false } = options;
  const isChange = method !== 'GET';
  const exchanged = await exchange(toUrl(route, query), {
    method,
    ...(isPoll && { headers: { 'X-Relay-Poll': '1' } }),
    ...(isChange && {
      headers: { 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body ?? {}),
    }),
    signal,
  });
  if (!exchanged) throw new ApiError(0, 'unreachable', isChange ? MAYBE_DONE : NO_ANSWER);
  const { response, answer } = exchanged;
  if (response.ok && answer !== undefined) return answer as T;
  // Reading is allowed to all who may open the dashboard, so a guard that forbids it now has ended the session.
  const isEnded = response.status === 401 || (response.status === 403 && !isChange);
  const signedIn = isEnded ? onUnauthorized() : undefined;
  if (signedIn && isChange) throw new ApiError(response.status, 'session_ended', ENDED);
  if (!signedIn || failsSignedOut) {
    throw toError(exchanged, `the answer (${response.status}) did not come from the admin API`);
  }
  await signedIn;
  return request(method, route, options);
}

export const get = <T>(route: string, options?: RequestOptions) => request<T>('GET', route, options);
