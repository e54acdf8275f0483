import { RelayError } from '../../client/relay.error.js';
import type { AttemptSpan } from '../../common/telemetry/telemetry.interface.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';

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
 * One attempt to deliver a message, which begins with the first connection to one of its URLs. Thousands may wait for
 * connections, so each is one object: with promises or closures, the garbage collector would copy several times as much.
 */
export abstract class Attempt {
  /** Number of requests, one to each URL. */
  requests = 0;
  /** Number of requests that were not made, whose URLs have not failed. */
  declined = 0;
  /** The span that its requests belong to, if it is traced. */
  span: AttemptSpan | undefined;
  private readonly results: SendResult[] = [];
  private hasBegun = false;
  private isEnded = false;

  /** @param body the bytes that are signed and sent */
  constructor(
    readonly delivery: Readonly<Delivery>,
    readonly body: Buffer,
  ) {}

  /**
   * Begins the attempt, unless another of its requests did.
   *
   * @throws {RelayError} {@link DECLINED} if it may not begin
   */
  begin(): void {
    if (this.hasBegun) return;
    if (!this.mayBegin()) throw DECLINED;
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

  /** Called when there is a connection for the first request; returns whether the attempt may begin. */
  protected abstract mayBegin(): boolean;

  /**
   * Called once: at the first success with the results so far, otherwise with all; with undefined if all requests were
   * declined.
   */
  abstract end(results: SendResult[] | undefined): void;
}
