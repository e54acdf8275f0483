import { forgetLists } from '../shell/history-entry.state.js';
import { ApiError } from './api.error.js';

/** Time for an answer to `GET`, in ms: a page that waits longer would show old figures as current. */
const ANSWER_TIME = 30_000;

/** A response, and its body as JSON; undefined if it is not JSON. */
export interface Exchanged {
  response: Response;
  answer: unknown;
}

/**
 * Sends a request that is answered with JSON. Resolves with undefined if there is no answer.
 *
 * @throws the reason of the signal, if the caller aborts
 */
export async function exchange(url: URL, { signal, ...init }: RequestInit): Promise<Exchanged | undefined> {
  if (init.method !== 'GET') forgetLists();
  const control = new AbortController();
  const abort = () => control.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const timer = init.method === 'GET' ? setTimeout(abort, ANSWER_TIME) : undefined;
  const response = await fetch(url, { ...init, signal: control.signal })
    .catch((error: unknown) => {
      if (signal?.aborted) throw error;
      return undefined;
    })
    .finally(() => clearTimeout(timer));
  return response && { response, answer: (await response.json().catch(() => undefined)) as unknown };
}

/**
 * Returns the error of an answer.
 *
 * @param unreadable message for an answer that is not an error of the relay
 */
export function toError({ response: { status, headers }, answer }: Exchanged, unreadable: string): ApiError {
  const { code, message, field } = (answer ?? {}) as Partial<ApiError>;
  if (typeof message !== 'string') return new ApiError(status, 'answer_unreadable', unreadable);
  const retryAfter = Number(headers.get('Retry-After')) || undefined;
  return new ApiError(status, String(code), message, field, retryAfter);
}
