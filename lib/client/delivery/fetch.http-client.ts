import type { HTTPClient, HTTPClientRequest, HTTPFetchFn, HTTPResponse } from './http-client.interface.js';

// Looked up for each request, because instrumentation and tests replace it.
const globalFetch: HTTPFetchFn = (url, options) => globalThis.fetch(url, options);

/** Makes requests with a function such as `fetch`; the global `fetch` by default. */
export class FetchHTTPClient implements HTTPClient {
  constructor(private readonly fetchFn: HTTPFetchFn = globalFetch) {}

  makeRequest(request: HTTPClientRequest): Promise<HTTPResponse> {
    const { url, method, headers, body, signal = timeoutSignal(request.httpRequestTimeout) } = request;
    // The transport follows redirects: after most of them, `fetch` would send a GET that has no body.
    return this.fetchFn(url, { method, headers, body, signal, redirect: 'manual' });
  }
}

/** Limits a request without a signal, such as one that a subclass made. */
function timeoutSignal(ms: number): AbortSignal | undefined {
  // Node 14 has no AbortSignal, Node 16 not always a timeout.
  return typeof AbortSignal === 'function' ? AbortSignal.timeout?.(ms) : undefined;
}
