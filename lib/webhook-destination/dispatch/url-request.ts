import { errorMessage } from '../../client/error.util.js';
import { parseRetryAfter } from '../../client/retry-after.util.js';
import { fromTraceText } from '../../client/telemetry/trace-context.js';
import type { RequestSpan } from '../../common/telemetry/telemetry.interface.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import { type Attempt, DECLINED } from './attempt.js';
import type { ConnectionPool, PooledRequest } from './connection-pool.js';
import type { RequestLimit } from './request-limit.js';
import { classifyError, classifyStatus, type RetryOn } from './url-outcome.js';
import type { WebhookHeaders } from './webhook-headers.js';
import type { WebhookTarget } from './webhook-target.js';
import type { TargetRequest, TargetResponse } from './webhook-transport.interface.js';

/** One of a destination's URLs, with its connections. */
export interface Route {
  readonly target: WebhookTarget;
  readonly pool: Pick<ConnectionPool, 'post' | 'endWaits' | 'close'>;
  /** Number of requests in progress, including those that wait for a connection. */
  active: number;
}

/** The sender of a request, and what its requests have in common. */
export interface RequestOwner {
  readonly headers: WebhookHeaders;
  readonly retryOn: RetryOn;
  readonly limit?: RequestLimit | undefined;
  readonly propagateTrace: boolean;
  /** Whether it makes no more requests. */
  readonly isStopped: boolean;
  /** Called when a request has ended, before its attempt gets the result. */
  requestEnded(route: Route): void;
}

/** The request of an attempt to one of its URLs. */
export class UrlRequest implements PooledRequest {
  private startedAt = performance.now();
  private isMade = false;
  private span: RequestSpan | undefined;

  constructor(
    private readonly attempt: Attempt,
    private readonly route: Route,
    private readonly owner: RequestOwner,
  ) {}

  prepare(waited: number): TargetRequest {
    const { attempt, owner } = this;
    if (owner.isStopped) throw DECLINED;
    attempt.begin();
    const { delivery, body, span } = attempt;
    const { target } = this.route;
    const { limit, propagateTrace } = owner;
    this.isMade = true;
    limit?.begin();
    this.startedAt = performance.now() - waited;
    this.span = span?.request(target);
    const { authorization } = target;
    // For each request, because another one of the attempt may have been made long before.
    const headers = owner.headers.for(delivery, body, Date.now());
    const own = authorization === undefined ? headers : { Authorization: authorization, ...headers };
    const propagated =
      propagateTrace &&
      (this.span?.trace ?? (delivery.trace === undefined ? undefined : fromTraceText(delivery.trace)));
    return { headers: propagated ? { ...own, ...propagated } : own, body };
  }

  answer({ status, headers, fault }: TargetResponse): void {
    this.span?.end(status);
    const outcome = classifyStatus(status, this.owner.retryOn);
    const { shown: url } = this.route.target;
    if (outcome === 'success') return this.end({ url, outcome, status });
    const error = fault && { error: errorMessage(fault) };
    this.end({ url, outcome, status, ...error }, parseRetryAfter(headers?.['retry-after'], Date.now()));
  }

  fail(error: unknown): void {
    if (error === DECLINED) return this.end(undefined);
    this.span?.end(undefined, error);
    const { shown: url } = this.route.target;
    this.end({ url, outcome: classifyError(error), error: errorMessage(error) });
  }

  /** @param result undefined if the request was declined */
  private end(result: Omit<UrlResult, 'duration'> | undefined, retryAfter?: number): void {
    const duration = Math.floor(performance.now() - this.startedAt);
    if (!this.isMade) this.owner.limit?.giveBack();
    this.owner.requestEnded(this.route);
    this.attempt.add(result && { urlId: this.route.target.id, result: { ...result, duration }, retryAfter });
  }
}
