import { RelayError } from '../../client/relay.error.js';
import { fromTraceText } from '../../client/telemetry/trace-context.js';
import { errorMessage } from '../../common/error.util.js';
import type { AttemptSpan, RequestSpan } from '../../common/telemetry/telemetry.interface.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import type { ConnectionPool } from './connection-pool.js';
import type { RequestLimit } from './request-limit.js';
import { parseRetryAfter } from '../../client/retry-after.util.js';
import { classifyError, classifyStatus, type RetryOn } from './url-outcome.js';
import type { WebhookHeaders } from './webhook-headers.js';
import type { WebhookTarget } from './webhook-target.js';
import type { TargetRequest } from './webhook-transport.interface.js';

/** Result of one attempt against one URL. */
export interface SendResult {
  /** Identifies the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter: number | undefined;
}

/** One of a destination's URLs, with its connections. */
export interface Route {
  target: WebhookTarget;
  pool: Pick<ConnectionPool, 'post' | 'close'>;
  /** Number of requests in progress, including those that wait for a connection. */
  active: number;
}

/** Returns whether an attempt may begin; its span if it is traced. */
type MayBegin = () => boolean | AttemptSpan;

interface Begun {
  /** The headers of all its requests. */
  headers: Record<string, string>;
  /** The trace of the message; see `NewDelivery`. */
  trace: string | undefined;
  span: AttemptSpan | undefined;
}

/** Sends the requests of one destination. */
export class DestinationSender {
  private onIdle: (() => void) | undefined;

  /**
   * @param maxActive maximum number of requests in progress to one URL; those to a slow URL beside a fast one would
   * pile up, because a settled delivery does not wait for them
   * @param limit shared with the destination's earlier senders, whose requests count too
   */
  constructor(
    private readonly headers: WebhookHeaders,
    private readonly routes: Route[],
    private readonly maxActive: number,
    private readonly retryOn: RetryOn = 'spec',
    private readonly limit?: RequestLimit,
    private readonly propagateTrace = false,
  ) {}

  /**
   * Posts concurrently to each URL without a permanent failure, once the rate limit admits it. Resolves at the first
   * success with the results so far; requests already in flight are not cancelled. Without a success, it resolves with
   * all results. If nothing is sent because `endWaits` is called or `mayBegin` declines, it resolves with undefined.
   *
   * @param body the bytes that are signed and sent
   * @param mayBegin called when there is a connection for the first request; the span that it returns traces the
   * requests
   */
  send(delivery: Readonly<Delivery>, body: Buffer, mayBegin: MayBegin): Promise<SendResult[] | undefined> {
    const { failedUrls } = delivery;
    const routes =
      failedUrls.length > 0 ? this.routes.filter(({ target }) => !failedUrls.includes(target.id)) : this.routes;
    const { limit } = this;
    const count = routes.length;
    const post = () => this.postAll(routes, delivery, body, mayBegin);
    if (!limit || limit.admits(count)) return post();
    return limit.wait(count).then((isAdmitted) => (isAdmitted ? post() : undefined));
  }

  /** Cancels the requests that wait for the rate limit. */
  endWaits(): void {
    this.limit?.endWaits();
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

  private checkIdle(): void {
    if (this.routes.every(({ active }) => active === 0)) this.onIdle?.();
  }

  private postAll(
    routes: Route[],
    delivery: Readonly<Delivery>,
    body: Buffer,
    mayBegin: MayBegin,
  ): Promise<SendResult[] | undefined> {
    let begun: Begun | undefined;
    let isDeclined = false;
    const begin = (): Begun => {
      if (begun) return begun;
      const answer = mayBegin();
      if (answer === false) {
        isDeclined = true;
        throw new RelayError('destination_down', 'the destination is down');
      }
      const headers = this.headers.for(delivery, body, Date.now());
      return (begun = { headers, trace: delivery.trace, span: answer === true ? undefined : answer });
    };
    return new Promise((resolve) => {
      const results: SendResult[] = [];
      const end = (): void => resolve(isDeclined && !begun ? undefined : [...results]);
      if (routes.length === 0) return end();
      for (const route of routes) {
        this.post(route, begin, body, (result) => {
          results.push(result);
          if (result.result.outcome === 'success' || results.length === routes.length) end();
        });
      }
    });
  }

  /** Sends one request and calls `onEnd` with its result. */
  private post(route: Route, begin: () => Begun, body: Buffer, onEnd: (result: SendResult) => void): void {
    const { id: urlId, shown: url } = route.target;
    let start = performance.now();
    let isMade = false;
    let request: RequestSpan | undefined;
    const end = (result: UrlResult, retryAfter?: number): void => {
      result.duration = Math.floor(performance.now() - start);
      if (!isMade) this.limit?.giveBack();
      route.active--;
      if (this.onIdle) this.checkIdle();
      onEnd({ urlId, result, retryAfter });
    };
    const fail = (error: unknown): void => {
      request?.end(undefined, error);
      end({ url, outcome: classifyError(error), error: errorMessage(error), duration: 0 });
    };
    if (++route.active > this.maxActive) {
      fail(new RelayError('too_many_requests', 'too many requests to this URL are in flight'));
      return;
    }
    const prepare = (waited: number): TargetRequest => {
      const begun = begin();
      isMade = true;
      this.limit?.begin();
      start = performance.now() - waited;
      request = begun.span?.request(route.target);
      return { headers: this.headersTo(route.target, begun, request), body };
    };
    route.pool.post(prepare).then((answer) => {
      const { status } = answer;
      request?.end(status);
      const outcome = classifyStatus(status, this.retryOn);
      const retryAfter =
        outcome === 'success' ? undefined : parseRetryAfter(answer.headers?.['retry-after'], Date.now());
      end({ url, outcome, status, duration: 0 }, retryAfter);
    }, fail);
  }

  /** Returns the headers of the attempt, with the user info of the URL and the trace if it is propagated. */
  private headersTo(
    { authorization }: WebhookTarget,
    { headers, trace }: Begun,
    request: RequestSpan | undefined,
  ): Record<string, string> {
    const own = authorization === undefined ? headers : { Authorization: authorization, ...headers };
    if (!this.propagateTrace) return own;
    return { ...own, ...(request?.trace ?? (trace === undefined ? undefined : fromTraceText(trace))) };
  }
}
