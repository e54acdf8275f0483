/** Response headers as `fetch` returns them. */
export interface HTTPHeaders {
  get: (key: string) => string | null;
  has: (key: string) => boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as other fetch implementations declare it
  entries: () => IterableIterator<[string, any]>;
}

/** Response of an HTTP client: the part of `fetch`'s `Response` that the library reads. */
export interface HTTPResponse {
  status: number;
  statusText: string;
  /** Response headers; `Retry-After` is read from them. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as other fetch implementations declare it
  headers?: Record<string, any> | HTTPHeaders;
  /** Reads the body. Called once for each response, so that the connection can be reused. */
  text?: () => Promise<string>;
}

/** A request for an {@link HTTPClient} to make. */
export interface HTTPClientRequest {
  url: string;
  method: 'POST';
  headers: Record<string, string>;
  /** The body, as JSON. */
  body: string;
  /** The parsed body, for clients that serialise it themselves. Always set in requests of the library. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- JSON
  readonly data?: Record<string, any>;
  /** Milliseconds after which the library aborts the exchange. */
  httpRequestTimeout: number;
  /** Aborted when the library aborts the request. Undefined on Node 14, which has no `AbortSignal`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Registers a function that stops the request. It is called when the library aborts the request, immediately if it
   * already has. Cheaper than `signal`, and available on every Node version.
   */
  onAbort?(stop: () => void): void;
}

/**
 * Makes the library's HTTP requests.
 *
 * @see docs/specification.md, "HTTP clients"
 */
export interface HTTPClient {
  /** Makes one request, and follows no redirect. A rejection counts as a network error: the batch is retried. */
  makeRequest(request: HTTPClientRequest): Promise<HTTPResponse>;
}

/** Options passed to an {@link HTTPFetchFn}: the part of `fetch`'s options that the library uses. */
export interface HTTPFetchRequest {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- fetch implementations disagree on its type
  signal: any;
  /** Always set in requests of the library, which follows redirects itself. */
  redirect?: 'manual';
}

/** A function such as `fetch`. */
export type HTTPFetchFn = (url: string, options: HTTPFetchRequest) => Promise<HTTPResponse>;
