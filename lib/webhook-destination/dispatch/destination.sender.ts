import { RelayError } from '../../client/relay.error.js';
import { type Attempt, DECLINED } from './attempt.js';
import type { RequestLimit } from './request-limit.js';
import { type RequestOwner, type Route, UrlRequest } from './url-request.js';
import type { RetryOn } from './url-outcome.js';
import type { WebhookHeaders } from './webhook-headers.js';

/** Sends the requests of one destination. */
export class DestinationSender implements RequestOwner {
  private onIdle: (() => void) | undefined;
  /** Whether requests are declined that are not made yet. */
  isStopped = false;

  /**
   * @param maxActive maximum number of requests in progress to one URL; those to a slow URL beside a fast one would
   * pile up, because a settled delivery does not wait for them
   * @param limit shared with the destination's earlier senders, whose requests count too
   */
  constructor(
    readonly headers: WebhookHeaders,
    private readonly routes: Route[],
    private readonly maxActive: number,
    readonly retryOn: RetryOn,
    readonly propagateTrace: boolean,
    readonly limit?: RequestLimit,
  ) {}

  /**
   * Posts concurrently to each URL without a permanent failure, once the rate limit admits it. Requests in flight after
   * the first success are not cancelled. Nothing is sent if `endWaits` is called before, or if the attempt declines.
   */
  send(attempt: Attempt): void {
    const { failedUrls } = attempt.delivery;
    const routes =
      failedUrls.length > 0 ? this.routes.filter(({ target }) => !failedUrls.includes(target.id)) : this.routes;
    if (routes.length === 0) return attempt.end([]);
    const { limit } = this;
    if (!limit || limit.admits(routes.length)) return this.post(attempt, routes);
    void limit.wait(routes.length).then((isAdmitted) => {
      if (isAdmitted) this.post(attempt, routes);
      else attempt.end(undefined);
    });
  }

  /** Cancels the requests that wait for the rate limit. */
  endWaits(): void {
    this.limit?.endWaits();
  }

  /** Declines the requests that wait for the rate limit or a connection, and all later ones. */
  stop(): void {
    this.isStopped = true;
    this.endWaits();
    for (const { pool } of this.routes) pool.endWaits(DECLINED);
  }

  /** Resolves once no request is in progress, including those to the other URLs of settled deliveries. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.onIdle = resolve;
      this.checkIdle();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.routes.map(({ pool }) => pool.close()));
  }

  requestEnded(route: Route): void {
    route.active--;
    if (this.onIdle) this.checkIdle();
  }

  private checkIdle(): void {
    if (this.routes.every(({ active }) => active === 0)) this.onIdle?.();
  }

  private post(attempt: Attempt, routes: Route[]): void {
    attempt.requests = routes.length;
    for (const route of routes) {
      const request = new UrlRequest(attempt, route, this);
      if (++route.active <= this.maxActive) route.pool.post(request);
      else request.fail(new RelayError('too_many_requests', 'too many requests to this URL are in flight'));
    }
  }
}
