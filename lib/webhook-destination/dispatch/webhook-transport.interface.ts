/** One POST. */
export interface WebhookRequest {
  headers: Record<string, string>;
  body: Buffer;
}

/** What a receiver answered; its body is read to a bound and dropped. */
export interface WebhookResponse {
  status: number;
  /** The `Retry-After` header. */
  retryAfter: string | undefined;
}

/** How requests to one URL go out: one at a time, over a connection of its own that the network policy has passed. */
export interface WebhookTransport {
  /**
   * Resolves with any answer, a redirect included, once its body has ended; rejects when there is none, and with a
   * {@link WebhookTimeoutError} when the whole exchange takes longer than `delivery.timeout`.
   *
   * @param waited part of the timeout that is over already, in ms
   */
  post(request: WebhookRequest, waited: number): Promise<WebhookResponse>;
  /** Drops the connection; what is under way rejects. */
  close(): Promise<void>;
}

/** Most that is read of an answer before its connection is given up, in bytes. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** The exchange did not end in time (§8). */
export class WebhookTimeoutError extends Error {
  readonly code = 'ERR_WEBHOOK_TIMEOUT';

  constructor(timeout: number) {
    super(`timeout: no complete answer within ${timeout} ms`);
    this.name = 'WebhookTimeoutError';
  }
}
