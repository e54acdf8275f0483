/** Response headers as `fetch` gives them. */
export interface HTTPHeaders {
  get: (key: string) => string | null;
  has: (key: string) => boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what other fetch implementations declare
  entries: () => IterableIterator<[string, any]>;
}

/** The response of an HTTP client: the part of `fetch`'s `Response` that is needed. */
export interface HTTPResponse {
  status: number;
  statusText: string;
  /** Needed for `Retry-After`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what other fetch implementations declare
  headers?: Record<string, any> | HTTPHeaders;
  /** Reads the body. Called once for each response, so that the connection can be used again. */
  text?: () => Promise<string>;
}

/** A request for an {@link HTTPClient} to make. */
export interface HTTPClientRequest {
  url: string;
  method: 'POST';
  headers: Record<string, string>;
  /** The body, as JSON. */
  body: string;
  /** The body, parsed: for clients that serialise it themselves. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- JSON
  readonly data: Record<string, any>;
  /** Milliseconds that the whole exchange may take; then the library aborts it. */
  httpRequestTimeout: number;
  /** Aborted when the library aborts the request. Undefined on Node 14, which has no `AbortSignal`. */
  readonly signal?: AbortSignal | undefined;
  /** Registers what to do when the library aborts the request, or has. Cheaper than `signal`, and on every Node version. */
  onAbort?(stop: () => void): void;
}

/**
 * Makes the library's HTTP requests.
 *
 * @see docs/specification.md, "HTTP clients"
 */
export interface HTTPClient {
  /** Makes one request. A rejection counts as a network error: the batch is retried. */
  makeRequest(request: HTTPClientRequest): Promise<HTTPResponse>;
}

/** The options that an {@link HTTPFetchFn} receives: the part of `fetch`'s that is needed. */
export interface HTTPFetchRequest {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- fetch implementations disagree on its type
  signal: any;
}

/** A function such as `fetch`. */
export type HTTPFetchFn = (url: string, options: HTTPFetchRequest) => Promise<HTTPResponse>;
