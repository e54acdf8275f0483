import { RelayError } from '../../client/relay.error.js';
import { errorMessage } from '../../common/error.util.js';
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
  /** Names the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** The receiver's `Retry-After`, in ms since the epoch. */
  retryAfter: number | undefined;
}

/** One of a destination's URLs, and the way to it. */
export interface Route {
  target: WebhookTarget;
  pool: Pick<ConnectionPool, 'post' | 'close'>;
  /** Requests under way, those included that wait for a connection. */
  active: number;
}

/** Makes the requests of one destination. */
export class DestinationSender {
  /**
   * @param maxActive requests under way to one URL, at most; a slow URL beside a fast one would pile them up, as a
   * settled delivery does not wait for it
   */
  constructor(
    private readonly headers: WebhookHeaders,
    private readonly routes: Route[],
    private readonly maxActive: number,
    private readonly retryOn: RetryOn = 'spec',
    private readonly limit?: RequestLimit,
  ) {}

  /**
   * Posts to each URL without a permanent failure, concurrently, once the rate limit admits that. Resolves at the first
   * success with the results so far; requests already in flight are not cancelled. Without a success it resolves with all
   * results. If nothing is sent because `endWaits` is called, or `mayBegin` declines, it resolves with undefined.
   *
   * @param body the bytes that are signed and sent
   * @param mayBegin asked when there is a connection for the first request
   */
  send(delivery: Readonly<Delivery>, body: Buffer, mayBegin: () => boolean): Promise<SendResult[] | undefined> {
    const { failedUrls } = delivery;
    const routes =
      failedUrls.length > 0 ? this.routes.filter(({ target }) => !failedUrls.includes(target.id)) : this.routes;
    const { limit } = this;
    const count = routes.length;
    const post = () => this.postAll(routes, delivery, body, mayBegin);
    if (!limit || limit.admits(count)) return post();
    return limit.wait(count).then((isAdmitted) => (isAdmitted ? post() : undefined));
  }

  /** Sends nothing of what waits for the rate limit. */
  endWaits(): void {
    this.limit?.endWaits();
  }

  async close(): Promise<void> {
    this.endWaits();
    await Promise.all(this.routes.map(({ pool }) => pool.close()));
  }

  private postAll(
    routes: Route[],
    delivery: Readonly<Delivery>,
    body: Buffer,
    mayBegin: () => boolean,
  ): Promise<SendResult[] | undefined> {
    let headers: Record<string, string> | undefined;
    let isDeclined = false;
    const begin = (): Record<string, string> => {
      if (!headers && !mayBegin()) {
        isDeclined = true;
        throw new RelayError('destination_down', 'the destination is down');
      }
      return (headers ??= this.headers.for(delivery, body, Date.now()));
    };
    return new Promise((resolve) => {
      const results: SendResult[] = [];
      const end = (): void => resolve(isDeclined && !headers ? undefined : [...results]);
      if (routes.length === 0) return end();
      for (const route of routes) {
        this.post(route, begin, body, (result) => {
          results.push(result);
          if (result.result.outcome === 'success' || results.length === routes.length) end();
        });
      }
    });
  }

  /** One request; calls `onEnd` with its result. */
  private post(
    route: Route,
    begin: () => Record<string, string>,
    body: Buffer,
    onEnd: (result: SendResult) => void,
  ): void {
    const { id: urlId, shown: url, authorization } = route.target;
    let start = performance.now();
    let isMade = false;
    const end = (result: UrlResult, retryAfter?: number): void => {
      result.duration = Math.floor(performance.now() - start);
      if (!isMade) this.limit?.giveBack();
      route.active--;
      onEnd({ urlId, result, retryAfter });
    };
    const fail = (error: unknown): void =>
      end({ url, outcome: classifyError(error), error: errorMessage(error), duration: 0 });
    if (++route.active > this.maxActive) {
      fail(new RelayError('too_many_requests', 'too many requests are under way'));
      return;
    }
    const prepare = (waited: number): TargetRequest => {
      const headers = begin();
      isMade = true;
      this.limit?.begin();
      start = performance.now() - waited;
      return { headers: authorization === undefined ? headers : { Authorization: authorization, ...headers }, body };
    };
    route.pool.post(prepare).then((answer) => {
      const { status } = answer;
      const outcome = classifyStatus(status, this.retryOn);
      const retryAfter =
        outcome === 'success' ? undefined : parseRetryAfter(answer.headers?.['retry-after'], Date.now());
      end({ url, outcome, status, duration: 0 }, retryAfter);
    }, fail);
  }
}
