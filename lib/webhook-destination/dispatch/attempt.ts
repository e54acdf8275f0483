import { RelayError } from '../../client/relay.error.js';
import type { AttemptSpan } from '../../common/telemetry/telemetry.interface.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import type { WebhookHeaders } from './webhook-headers.js';

/** Result of one attempt against one URL. */
export interface SendResult {
  /** Identifies the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter: number | undefined;
}

interface Begun {
  /** The headers of all its requests. */
  headers: Record<string, string>;
  /** The trace of the message; see `NewDelivery`. */
  trace: string | undefined;
  span: AttemptSpan | undefined;
}

/**
 * One attempt to deliver a message, which begins with the first connection to one of its URLs. Thousands may wait for
 * connections, so each is one object: with promises or closures, the garbage collector would copy several times as much.
 */
export abstract class Attempt {
  /** Number of requests, one to each URL. */
  requests = 0;
  private readonly results: SendResult[] = [];
  private begun: Begun | undefined;
  private isDeclined = false;
  private isEnded = false;

  /** @param body the bytes that are signed and sent */
  constructor(
    readonly delivery: Readonly<Delivery>,
    readonly body: Buffer,
  ) {}

  /**
   * Begins the attempt, unless another of its requests did.
   *
   * @throws {RelayError} if it may not begin
   */
  begin(headers: WebhookHeaders): Begun {
    if (this.begun) return this.begun;
    const answer = this.mayBegin();
    if (answer === false) {
      this.isDeclined = true;
      throw new RelayError('destination_down', 'the destination is down');
    }
    const made = headers.for(this.delivery, this.body, Date.now());
    return (this.begun = { headers: made, trace: this.delivery.trace, span: answer === true ? undefined : answer });
  }

  /** Adds the result of one request. Requests in flight after the first success are not cancelled. */
  add(result: SendResult): void {
    if (this.isEnded) return;
    this.results.push(result);
    if (result.result.outcome !== 'success' && this.results.length < this.requests) return;
    this.isEnded = true;
    this.end(this.isDeclined && !this.begun ? undefined : this.results);
  }

  /**
   * Called when there is a connection for the first request; returns whether the attempt may begin, or its span if it
   * is traced.
   */
  protected abstract mayBegin(): boolean | AttemptSpan;

  /** Called once: at the first success with the results so far, otherwise with all; with undefined if nothing was sent. */
  abstract end(results: SendResult[] | undefined): void;
}
