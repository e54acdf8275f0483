import type { WebhookTarget } from './webhook.target.js';

/** One POST to one URL. */
export interface WebhookRequest {
  target: WebhookTarget;
  headers: Record<string, string>;
  body: string;
  /** Ends the exchange, at whatever point it is. */
  signal: AbortSignal;
}

/** What a receiver answered; its body is read to a bound and dropped. */
export interface WebhookResponse {
  status: number;
  /** The `Retry-After` header. */
  retryAfter: string | undefined;
}

/** How requests of one destination go out: connections of its own, and the network policy at each of them. */
export interface WebhookTransport {
  /** Resolves with any answer, a redirect included; rejects when there is none. */
  send(request: WebhookRequest): Promise<WebhookResponse>;
  /** Drops all connections. */
  close(): Promise<void>;
}
