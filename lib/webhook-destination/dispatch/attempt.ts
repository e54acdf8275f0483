import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { parseRetryAfter } from '../../client/retry-after.util.js';
import { fromTraceText, isPostedTrace, type TraceFields, traceIdOf } from '../../client/telemetry/trace-context.js';
import type { AttemptSpan, RequestSpan } from '../../common/telemetry/telemetry.interface.js';
import { concealAddresses } from '../network.util.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery, Lease } from '../queue/delivery.interface.js';
import type { PooledRequest } from '../transport/connection-pool.js';
import type { TargetRequest, TargetResponse } from '../transport/webhook-transport.interface.js';
import type { DestinationLoop } from './destination.loop.js';
import type { DestinationSender, Route } from './destination.sender.js';
import { askedIn, classifyError, classifyStatus } from './outcome.util.js';

/** Result of one attempt against one URL. */
export interface SendResult {
  /** Identifies the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter: number | undefined;
}

/** Why a request is not made. Shared, because thousands may be declined one after another. */
export const DECLINED = new RelayError('request_declined', 'the destination is down, or was changed');

/**
 * One attempt to deliver a leased message, with a request to each URL.
 *
 *     waiting -> begun   when there is a connection for its first request, and the loop admits it
 *     waiting -> ended   without results: all its requests were declined
 *     begun -> ended     at the first success with the results so far, otherwise with all
 *
 * Thousands may wait for connections, so it is one object, and so is each request: with promises or closures, the
 * garbage collector would copy several times as much.
 */
export class Attempt {
  readonly delivery: Readonly<Delivery>;
  /** Number of requests, one to each URL. */
  requests = 0;
  /** Number of requests that were not made, whose URLs have not failed. */
  declined = 0;
  /** The span that its requests belong to, if it is traced. */
  span: AttemptSpan | undefined;
  private readonly results: SendResult[] = [];
  private hasBegun = false;
  private isEnded = false;

  /**
   * @param body the bytes that are signed and sent: the delivery's own, unless the destination has a `transform`
   * @param startedAt when it began, by the queue's time, in ms since the epoch
   * @param probe the circuit's probe that this attempt is, or 0
   * @param isLast whether the delivery is dead if it fails
   */
  constructor(
    readonly lease: Lease,
    readonly body: Buffer,
    public startedAt: number,
    readonly probe: number,
    public isLast: boolean,
    private readonly loop: Pick<DestinationLoop, 'mayBegin' | 'attempted'>,
  ) {
    this.delivery = lease.delivery;
  }

  /**
   * Begins the attempt, unless another of its requests did.
   *
   * @throws {RelayError} {@link DECLINED} if it may not begin
   */
  begin(): void {
    if (this.hasBegun) return;
    if (!this.loop.mayBegin(this)) throw DECLINED;
    this.hasBegun = true;
  }

  /**
   * Adds the result of one request; undefined if it was declined. Requests in flight after the first success are not
   * cancelled.
   */
  add(result: SendResult | undefined): void {
    if (this.isEnded) return;
    if (result) this.results.push(result);
    else this.declined++;
    if (result?.result.outcome !== 'success' && this.results.length + this.declined < this.requests) return;
    this.isEnded = true;
    this.end(this.results.length === 0 ? undefined : this.results);
  }

  /** @param results undefined if all requests were declined */
  end(results: SendResult[] | undefined): void {
    this.loop.attempted(this, results);
  }
}

/** The request of an attempt to one of its URLs. */
export class UrlRequest implements PooledRequest {
  private startedAt = performance.now();
  private isMade = false;
  private span: RequestSpan | undefined;

  constructor(
    private readonly attempt: Attempt,
    private readonly route: Route,
    private readonly sender: DestinationSender,
  ) {}

  prepare(waited: number): TargetRequest {
    const { attempt, sender } = this;
    if (sender.isStopped) throw DECLINED;
    attempt.begin();
    const { delivery, body, span } = attempt;
    const { target } = this.route;
    this.isMade = true;
    sender.limit?.begin();
    this.startedAt = performance.now() - waited;
    this.span = span?.request(target);
    const { authorization } = target;
    // For each request, because another one of the attempt may have been made long before.
    const headers = sender.headers.for(delivery, body, Date.now());
    const own = authorization === undefined ? headers : { Authorization: authorization, ...headers };
    const propagated = sender.propagateTrace ? traceToPropagate(delivery.trace, this.span?.trace) : undefined;
    return { headers: propagated ? { ...own, ...propagated } : own, body };
  }

  answer(response: TargetResponse): void {
    const { status, headers, fault } = response;
    this.span?.end(status);
    const answered = classifyStatus(status, this.sender.retryOn);
    const { shown: url } = this.route.target;
    const asked = askedIn(headers);
    if (answered === 'success') {
      const result = { url, outcome: answered, status };
      return this.end(asked === 'disable' ? { ...result, asked } : result);
    }
    const outcome = asked === 'abort-message' ? 'permanent' : answered;
    const error = fault && { error: attemptError(fault) };
    const answer = this.sender.keep(response, this.route);
    this.end(
      { url, outcome, status, ...(asked && { asked }), ...error, ...(answer && { answer }) },
      parseRetryAfter(headers?.['retry-after'], Date.now()),
    );
  }

  fail(error: unknown): void {
    if (error === DECLINED) return this.end(undefined);
    this.span?.end(undefined, error);
    const { shown: url } = this.route.target;
    this.end({ url, outcome: classifyError(error), error: attemptError(error) });
  }

  /** @param result undefined if the request was declined */
  private end(result: Omit<UrlResult, 'duration'> | undefined, retryAfter?: number): void {
    const duration = Math.floor(performance.now() - this.startedAt);
    if (!this.isMade) this.sender.limit?.release();
    this.sender.requestEnded(this.route);
    this.attempt.add(result && { urlId: this.route.target.id, result: { ...result, duration }, retryAfter });
  }
}

/**
 * Returns the trace that a request carries.
 *
 * @param stored the trace of the message
 * @param own the trace of the request's span
 */
function traceToPropagate(stored: string | undefined, own: TraceFields | undefined): TraceFields | undefined {
  if (stored === undefined) return own;
  const recorded = fromTraceText(stored);
  if (!isPostedTrace(stored)) return own ?? recorded;
  // A span that continues the trace has its id, and its `tracestate`.
  return own && traceIdOf(own) !== traceIdOf(recorded) ? own : undefined;
}

/** Returns the error of a result, which tenants may see: it names no internal address, such as that of a refused connection. */
function attemptError(error: unknown): string {
  return concealAddresses(errorMessage(error));
}
