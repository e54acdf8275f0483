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

/** Returns whether an attempt may begin; its span if it is traced. */
export type MayBegin = () => boolean | AttemptSpan;

/** Called once: at the first success with the results so far, otherwise with all; with undefined if nothing was sent. */
export type OnEnd = (results: SendResult[] | undefined) => void;

interface Begun {
  /** The headers of all its requests. */
  headers: Record<string, string>;
  /** The trace of the message; see `NewDelivery`. */
  trace: string | undefined;
  span: AttemptSpan | undefined;
}

/**
 * One attempt to deliver a message, which begins with the first connection to one of its URLs. Thousands may wait for
 * connections, so it uses callbacks: promises would be a third of what the garbage collector copies.
 */
export class Attempt {
  private readonly results: SendResult[] = [];
  private begun: Begun | undefined;
  private isDeclined = false;
  private isEnded = false;

  /**
   * @param body the bytes that are signed and sent
   * @param requests number of requests, one to each URL
   * @param mayBegin called when there is a connection for the first request; the span that it returns traces the
   * requests
   */
  constructor(
    private readonly delivery: Readonly<Delivery>,
    readonly body: Buffer,
    private readonly requests: number,
    private readonly headers: WebhookHeaders,
    private readonly mayBegin: MayBegin,
    private readonly onEnd: OnEnd,
  ) {}

  /**
   * Begins the attempt, unless another of its requests did.
   *
   * @throws {RelayError} if it may not begin
   */
  begin(): Begun {
    if (this.begun) return this.begun;
    const answer = this.mayBegin();
    if (answer === false) {
      this.isDeclined = true;
      throw new RelayError('destination_down', 'the destination is down');
    }
    const headers = this.headers.for(this.delivery, this.body, Date.now());
    return (this.begun = { headers, trace: this.delivery.trace, span: answer === true ? undefined : answer });
  }

  /** Adds the result of one request. Requests in flight after the first success are not cancelled. */
  add(result: SendResult): void {
    if (this.isEnded) return;
    this.results.push(result);
    if (result.result.outcome !== 'success' && this.results.length < this.requests) return;
    this.isEnded = true;
    this.onEnd(this.isDeclined && !this.begun ? undefined : this.results);
  }
}
