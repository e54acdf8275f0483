import type { InjectionToken } from '@nestjs/common';

/** One POST to a receiver. */
export interface WebhookRequest {
  /** The URL without user info, which is in the headers. */
  url: string;
  /** All headers except `Host` and `Content-Length`. */
  headers: Record<string, string>;
  /** The signed bytes; send them unchanged. */
  body: Buffer;
  /** Aborted after `delivery.timeout` and when the application closes; end the request then. */
  signal: AbortSignal;
}

/** A receiver's answer. Its body is read up to a limit; the beginning of one other than 2xx is kept with the attempt. */
export interface WebhookResponse {
  status: number;
  /** Headers by lower-case name. `retry-after`, `webhook-delivery`, `content-type` and `content-encoding` are used. */
  headers?: Record<string, string | string[] | undefined>;
  /** Body of an answer other than 2xx, of which the first 1,024 bytes are kept. Default: nothing is kept. */
  body?: Uint8Array;
}

/**
 * Sends webhooks instead of the relay's own transport, for the option `delivery.transport`. One object serves all URLs.
 * The transport is responsible for the connection: it must apply `allowedNetworks` and `deniedNetworks` after name
 * resolution, verify certificates, not follow redirects, and limit how much of a response it reads. The relay is
 * responsible for the deadline, the retries, the signature and the number of concurrent requests.
 */
export interface WebhookTransport {
  /**
   * Resolves with any answer, including redirects and 5xx. Rejects if there is no answer; the URL is then retried.
   * Called for many requests concurrently.
   */
  post(request: WebhookRequest): Promise<WebhookResponse>;
}

/**
 * How requests are sent: over the relay's connections, either directly (`'undici'`) or through axios (`'axios'` for a
 * separate `HttpService`, `{ axios: token }` for the application's), or by the application's own transport.
 */
export type TransportOption = 'undici' | 'axios' | { axios: InjectionToken } | WebhookTransport;

/** Returns whether a transport is the application's; an `HttpService` also has a method `post`, but is not one. */
export function isWebhookTransport(value: unknown): value is WebhookTransport {
  const { post, axiosRef } = (value ?? {}) as { post?: unknown; axiosRef?: unknown };
  return typeof value === 'object' && typeof post === 'function' && axiosRef === undefined;
}

/** One POST to a given URL. */
export type TargetRequest = Pick<WebhookRequest, 'headers' | 'body'>;

/** The answer of a URL. */
export interface TargetResponse extends WebhookResponse {
  /** Why it could not be read to its end. Its status counts all the same. */
  fault?: Error;
  /** Number of bytes of the body that were read, if not all are in `body`. */
  size?: number;
  /** The headers that were sent, if `body` is given: a receiver may repeat them. */
  sent?: Record<string, string>;
}

/** Sends requests to one URL: one at a time, over its own connection. */
export interface TargetTransport {
  /** Resolves with any answer, including a redirect, once its body has ended; rejects if no status has arrived. */
  post(request: TargetRequest): Promise<TargetResponse>;
  /** Drops the connection; a pending request rejects, and no more requests are sent. */
  close(reason?: Error): Promise<void>;
}

/** Maximum size of an answer that is read before its connection is dropped, in bytes. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Length of the beginning of an answer other than 2xx that is kept, in bytes. */
export const KEPT_BYTES = 1_024;
