import type { AsyncResource } from 'node:async_hooks';

import type { Subject } from 'rxjs';

import { RelayError } from '../../client/relay.error.js';
import type { DispatchTelemetry } from '../../common/telemetry/telemetry.interface.js';
import type { Delivery } from '../queue/delivery.interface.js';
import type { SteadyClock } from '../queue/steady-clock.js';
import type { KeptAnswer } from '../queue/attempt-record.interface.js';
import type { PoolFactory } from '../transport/transport.factory.js';
import type { TargetResponse } from '../transport/webhook-transport.interface.js';
import { toWebhookTarget, type WebhookTarget } from '../transport/webhook-target.js';
import { type Attempt, DECLINED, UrlRequest } from './attempt.js';
import type { DeliveryEvent } from './delivery-event.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { keepAnswer } from './failed-answer.util.js';
import type { RetryOn } from './outcome.util.js';
import type { RequestLimit } from './request-limit.js';
import { WebhookHeaders } from './webhook-headers.js';

/**
 * Maximum number of requests in progress to one URL, as a multiple of the concurrency. Those to a slow URL beside a fast
 * one would pile up, because a settled delivery does not wait for them.
 */
const ACTIVE_FACTOR = 4;

/** What the destinations of a process share. */
export interface SendingContext {
  readonly options: DeliveryOptions;
  readonly createPool: PoolFactory;
  readonly events: Subject<DeliveryEvent>;
  readonly clock: Pick<SteadyClock, 'now' | 'jumps'>;
  readonly telemetry?: DispatchTelemetry | undefined;
  /** Async context of all deliveries. */
  readonly scope: AsyncResource;
}

/** One of a destination's URLs, with its connections. */
export interface Route {
  readonly target: WebhookTarget;
  readonly pool: ReturnType<PoolFactory>;
  /** Number of requests in progress, including those that wait for a connection. */
  active: number;
}

/** Sends the requests of one destination. */
export class DestinationSender {
  readonly headers: WebhookHeaders;
  readonly retryOn: RetryOn;
  readonly propagateTrace: boolean;
  private readonly keepsAnswers: boolean;
  // Private, because it must not be logged.
  readonly #sharedSecrets: readonly string[];
  /** Whether requests are declined that are not made yet. */
  isStopped = false;
  private readonly routes: Route[];
  private readonly maxActive: number;
  private onIdle: (() => void) | undefined;

  /** @param limit shared with the destination's earlier senders, whose requests count too */
  constructor(
    destination: DestinationOptions,
    { options, createPool }: Pick<SendingContext, 'options' | 'createPool'>,
    readonly limit?: RequestLimit,
  ) {
    const { concurrency = options.concurrency, retryOn = options.retryOn } = destination;
    this.headers = new WebhookHeaders(destination);
    this.retryOn = retryOn;
    this.propagateTrace = destination.propagateTrace;
    this.keepsAnswers = options.keepAnswers;
    this.#sharedSecrets = [destination.sharedSecret ?? []].flat();
    this.maxActive = concurrency * ACTIVE_FACTOR;
    const toRoute = (target: WebhookTarget) => ({ target, pool: createPool(target, concurrency), active: 0 });
    this.routes = destination.urls.map(toWebhookTarget).map(toRoute);
  }

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

  /** Returns how long the rate limit would hold a delivery, in ms. */
  limitOf({ failedUrls }: Readonly<Delivery>): number {
    return this.limit?.waitOf(Math.max(1, this.routes.length - failedUrls.length)) ?? 0;
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

  /** Returns what is kept of an answer other than 2xx. */
  keep(answer: TargetResponse, { target }: Route): KeptAnswer | undefined {
    return this.keepsAnswers ? keepAnswer(answer, target, this.#sharedSecrets) : undefined;
  }

  /** Called when a request has ended, before its attempt gets the result. */
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
