import type { HTTPClient, HTTPClientRequest, HTTPFetchFn, HTTPResponse } from './http-client.interface.js';

// Looked up for each request, because instrumentation and tests replace it.
// Redirects are left to the transport: after most of them, `fetch` would send a GET that has no body.
const globalFetch: HTTPFetchFn = (url, options) => globalThis.fetch(url, { ...options, redirect: 'manual' });

/** Makes requests with a function such as `fetch`; the global `fetch` by default. */
export class FetchHTTPClient implements HTTPClient {
  constructor(private readonly fetchFn: HTTPFetchFn = globalFetch) {}

  makeRequest({ url, method, headers, body, signal }: HTTPClientRequest): Promise<HTTPResponse> {
    return this.fetchFn(url, { method, headers, body, signal });
  }
}
