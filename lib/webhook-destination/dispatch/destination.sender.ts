import { describe } from '../../common/error.util.js';
import type { UrlResult } from '../queue/attempt.record.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import { parseRetryAfter } from './retry.schedule.js';
import { classifyError, classifyStatus, type RetryOn } from './url.outcome.js';
import type { WebhookHeaders } from './webhook.headers.js';
import type { TargetTransport } from './webhook-transport.interface.js';
import type { WebhookTarget } from './webhook.target.js';

/** How one URL took an attempt, and what the next one needs to know. */
export interface SendResult {
  /** Names the URL in the delivery. */
  urlId: string;
  result: UrlResult;
  /** When the receiver wants the next request, in ms since the epoch. */
  retryAfter: number | undefined;
}

/** One of a destination's URLs, and the way to it. */
export interface Route {
  target: WebhookTarget;
  transport: TargetTransport;
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
   */
  send({ body, messageId, failedUrls }: Readonly<Delivery>, now: number): Promise<SendResult[]> {
    const headers = this.headers.for(messageId, body, now);
    const routes =
      failedUrls.length > 0 ? this.routes.filter(({ target }) => !failedUrls.includes(target.id)) : this.routes;
    return new Promise((resolve) => {
      const results: SendResult[] = [];
      if (routes.length === 0) return resolve(results);
      for (const route of routes) {
        void this.post(route, headers, body, now).then((result) => {
          results.push(result);
          if (result.result.outcome === 'success' || results.length === routes.length) resolve([...results]);
        });
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.routes.map(({ transport }) => transport.close()));
  }

  /** One request; resolves whatever becomes of it. */
  private async post(route: Route, headers: Record<string, string>, body: Buffer, start: number): Promise<SendResult> {
    const { id: urlId, shown, authorization } = route.target;
    route.active++;
    try {
      if (route.active > this.maxActive) throw new Error('too many requests are under way');
      const answer = await route.transport.post({
        headers: authorization === undefined ? headers : { Authorization: authorization, ...headers },
        body,
      });
      const now = Date.now();
      const { status } = answer;
      return {
        urlId,
        result: { url: shown, outcome: classifyStatus(status, this.retryOn), status, duration: now - start },
        retryAfter: parseRetryAfter(answer.headers?.['retry-after'], now),
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
