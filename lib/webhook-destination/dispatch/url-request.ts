import { parseRetryAfter } from '../../client/retry-after.util.js';
import { fromTraceText } from '../../client/telemetry/trace-context.js';
import { errorMessage } from '../../common/error.util.js';
import type { RequestSpan } from '../../common/telemetry/telemetry.interface.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Attempt } from './attempt.js';
import type { PooledRequest } from './connection-pool.js';
import type { RequestLimit } from './request-limit.js';
import { classifyError, classifyStatus, type RetryOn } from './url-outcome.js';
import type { WebhookTarget } from './webhook-target.js';
import type { TargetRequest, WebhookResponse } from './webhook-transport.interface.js';

/** What the requests to one URL have in common. */
export interface RequestOptions {
  target: WebhookTarget;
  retryOn: RetryOn;
  limit: RequestLimit | undefined;
  propagateTrace: boolean;
  /** Called when a request has ended, before its attempt gets the result. */
  onEnd: () => void;
}

/** The request of an attempt to one of its URLs. */
export class UrlRequest implements PooledRequest {
  private startedAt = performance.now();
  private isMade = false;
  private span: RequestSpan | undefined;

  constructor(
    private readonly attempt: Attempt,
    private readonly options: RequestOptions,
  ) {}

  prepare(waited: number): TargetRequest {
    const { headers, trace, span } = this.attempt.begin();
    const { target, limit, propagateTrace } = this.options;
    this.isMade = true;
    limit?.begin();
    this.startedAt = performance.now() - waited;
    this.span = span?.request(target);
    const { authorization } = target;
    const own = authorization === undefined ? headers : { Authorization: authorization, ...headers };
    const propagated = propagateTrace && (this.span?.trace ?? (trace === undefined ? undefined : fromTraceText(trace)));
    return { headers: propagated ? { ...own, ...propagated } : own, body: this.attempt.body };
  }

  answer({ status, headers }: WebhookResponse): void {
    this.span?.end(status);
    const outcome = classifyStatus(status, this.options.retryOn);
    const retryAfter = outcome === 'success' ? undefined : parseRetryAfter(headers?.['retry-after'], Date.now());
    this.end({ url: this.options.target.shown, outcome, status, duration: 0 }, retryAfter);
  }

  fail(error: unknown): void {
    this.span?.end(undefined, error);
    const { shown: url } = this.options.target;
    this.end({ url, outcome: classifyError(error), error: errorMessage(error), duration: 0 });
  }

  private end(result: UrlResult, retryAfter?: number): void {
    const { target, limit, onEnd } = this.options;
    result.duration = Math.floor(performance.now() - this.startedAt);
    if (!this.isMade) limit?.giveBack();
    onEnd();
    this.attempt.add({ urlId: target.id, result, retryAfter });
  }
}
