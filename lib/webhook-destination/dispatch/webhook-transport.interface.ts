import type { InjectionToken } from '@nestjs/common';

/** One POST to a receiver. */
export interface WebhookRequest {
  /** Where to, without user info: that is in the headers. */
  url: string;
  /** All headers but `Host` and `Content-Length`. */
  headers: Record<string, string>;
  /** The signed bytes, to be sent as they are. */
  body: Buffer;
  /** Aborted after `delivery.timeout`, and when the application closes: end the request then. */
  signal: AbortSignal;
}

/** A receiver's answer. Its body is read to a bound and dropped. */
export interface WebhookResponse {
  status: number;
  /** By lower-case name. Only `retry-after` is used. */
  headers?: Record<string, string | string[] | undefined>;
}

/**
 * Sends webhooks in place of the relay's own transport (`delivery.transport`). One object serves all URLs. It is
 * responsible for the connection: `allowedNetworks` and `deniedNetworks` after name resolution, certificates, not
 * following redirects, and a bound on how much of a response is read. The relay is responsible for the deadline, the
 * retries, the signature and the number of concurrent requests.
 */
export interface WebhookTransport {
  /**
   * Resolves with any answer, a redirect or a 5xx included; rejects when there is none, and the URL is then tried again.
   * It is called for many requests at a time.
   */
  post(request: WebhookRequest): Promise<WebhookResponse>;
}

/**
 * How requests are sent: over the relay's connections, either directly (`'undici'`) or with axios around them (`'axios'`
 * for an `HttpService` of its own, `{ axios: token }` for the application's), or by a transport of the application's.
 */
export type TransportOption = 'undici' | 'axios' | { axios: InjectionToken } | WebhookTransport;

/** Whether a transport is the application's; an `HttpService` also has a method `post`, but is not one. */
export function isWebhookTransport(value: unknown): value is WebhookTransport {
  const { post, axiosRef } = (value ?? {}) as { post?: unknown; axiosRef?: unknown };
  return typeof value === 'object' && typeof post === 'function' && axiosRef === undefined;
}

/** One POST to a URL that is known. */
export type TargetRequest = Pick<WebhookRequest, 'headers' | 'body'>;

/** How requests to one URL go out: one at a time, over a connection of its own. */
export interface TargetTransport {
  /** Resolves with any answer, a redirect included, once its body has ended; rejects when there is none. */
  post(request: TargetRequest): Promise<WebhookResponse>;
  /** Drops the connection; what is under way rejects, and nothing goes out any more. */
  close(reason?: Error): Promise<void>;
}

/** Most that is read of an answer before its connection is given up, in bytes. */
export const MAX_RESPONSE_BYTES = 64 * 1024;
