import { type Query, toUrl } from '../../dashboard/api/api.client.js';
import { ApiError } from '../../dashboard/api/api.error.js';
import { exchange, toError } from '../../dashboard/api/json.exchange.js';
import { endLink, link } from '../shell/link.state.js';
import { words } from '../words/words.js';

interface RequestOptions {
  query?: Query | undefined;
  body?: object | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request to the portal's API, with the token of the link. Status 401 ends the link.
 *
 * @throws {ApiError} for any status but 2xx, and if there is no answer
 */
export async function request<T>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  route: string,
  { query, body = {}, signal }: RequestOptions = {},
): Promise<T> {
  const isChange = method !== 'GET';
  const { token = '' } = link.value;
  const exchanged = await exchange(toUrl(route, query), {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(isChange && { 'Content-Type': 'application/json' }) },
    ...(isChange && { body: JSON.stringify(body) }),
    credentials: 'omit',
    signal,
  });
  if (!exchanged) throw new ApiError(0, 'unreachable', isChange ? words.errors.maybeDone : words.errors.noAnswer);
  const { response, answer } = exchanged;
  if (response.ok && answer !== undefined) return answer as T;
  if (response.status === 401) endLink(token);
  throw toError(exchanged, words.errors.unreadable(response.status));
}

export const get = <T>(route: string, options?: RequestOptions) => request<T>('GET', route, options);
