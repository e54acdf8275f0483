import { describe } from '../../common/error.util.js';
import type { UrlResult } from '../queue/attempt.record.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import type { ConnectionPool } from './connection.pool.js';
import { parseRetryAfter } from './retry.schedule.js';
import { classifyError, classifyStatus, type RetryOn } from './url.outcome.js';
import type { WebhookHeaders } from './webhook.headers.js';
import type { WebhookTarget } from './webhook.target.js';

/** How one URL took an attempt, and what the next one needs to know. */
export interface SendResult {
  /** Names the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** When the receiver wants the next request, in ms since the epoch. */
  retryAfter: number | undefined;
}

/** One attempt: when its first request began, in ms since the epoch, and how its URLs took it. */
export interface SentAttempt {
  startedAt: number;
  results: SendResult[];
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
  ) {}

  /**
   * Posts to each URL that has not failed for good, side by side. Resolves with what is known at the first success;
   * the other requests run out on their own (§4.1). Without a success it resolves with all results.
   *
   * @param mayBegin asked when there is a connection for the first request; if it declines, nothing is sent, and the
   * promise resolves with undefined
   */
  send({ body, messageId, failedUrls }: Readonly<Delivery>, mayBegin: () => boolean): Promise<SentAttempt | undefined> {
    const routes =
      failedUrls.length > 0 ? this.routes.filter(({ target }) => !failedUrls.includes(target.id)) : this.routes;
    let begun: { startedAt: number; headers: Record<string, string> } | undefined;
    let isDeclined = false;
    const begin = (): Record<string, string> => {
      if (!begun && !mayBegin()) {
        isDeclined = true;
        throw new Error('the destination is down');
      }
      const startedAt = Date.now();
      begun ??= { startedAt, headers: this.headers.for(messageId, body, startedAt) };
      return begun.headers;
    };
    return new Promise((resolve) => {
      const results: SendResult[] = [];
      const end = (): void => {
        if (!begun && isDeclined) resolve(undefined);
        else resolve({ startedAt: begun?.startedAt ?? Date.now(), results: [...results] });
      };
      if (routes.length === 0) return end();
      for (const route of routes) {
        void this.post(route, begin, body).then((result) => {
          results.push(result);
          if (result.result.outcome === 'success' || results.length === routes.length) end();
        });
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.routes.map(({ pool }) => pool.close()));
  }

  /** One request; resolves whatever becomes of it. */
  private async post(route: Route, begin: () => Record<string, string>, body: Buffer): Promise<SendResult> {
    const { id: urlId, shown, authorization } = route.target;
    let start = Date.now();
    route.active++;
    try {
      if (route.active > this.maxActive) throw new Error('too many requests are under way');
      const answer = await route.pool.post((waited) => {
        const headers = begin();
        start = Date.now() - waited;
        return { headers: authorization === undefined ? headers : { Authorization: authorization, ...headers }, body };
      });
      const now = Date.now();
      const { status } = answer;
      return {
        urlId,
        result: { url: shown, outcome: classifyStatus(status, this.retryOn), status, duration: now - start },
        retryAfter: parseRetryAfter(answer.retryAfter, now),
      };
    } catch (error) {
      const result = {
        url: shown,
        outcome: classifyError(error),
        error: describe(error),
        duration: Date.now() - start,
      };
      return { urlId, result, retryAfter: undefined };
    } finally {
      route.active--;
    }
  }
}
