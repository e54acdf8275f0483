import { describe } from '../../common/error.util.js';
import type { DestinationOptions } from '../options/destination.options.js';
import type { UrlResult } from '../queue/attempt.record.js';
import type { Delivery } from '../queue/delivery-queue.interface.js';
import { signBody } from '../receiver/signature.util.js';
import { parseRetryAfter } from './retry.schedule.js';
import { classifyError, classifyStatus } from './url.outcome.js';
import type { WebhookTransport } from './webhook-transport.interface.js';
import { toWebhookTarget, type WebhookTarget } from './webhook.target.js';

/** Product token of every webhook (§2.1). */
const USER_AGENT = 'nestjs-analytics-relay/1.0';

/** How one URL took an attempt, and what the next one needs to know. */
export interface SendResult {
  /** The URL as the application wrote it. */
  url: string;
  result: UrlResult;
  /** When the receiver wants the next request, in ms since the epoch. */
  retryAfter?: number | undefined;
}

/** Makes and signs the requests of one destination. */
export class DestinationSender {
  private readonly targets: WebhookTarget[];

  /** @param timeout longest exchange, in ms */
  constructor(
    private readonly destination: DestinationOptions,
    private readonly transport: WebhookTransport,
    private readonly timeout: number,
  ) {
    this.targets = destination.urls.map(toWebhookTarget);
  }

  /** One request for each URL that has not failed for good; each resolves, whatever becomes of it. */
  send({ body, messageId, failedUrls }: Readonly<Delivery>): Promise<SendResult>[] {
    const { headers, sharedSecret } = this.destination;
    const signed: Record<string, string> = {
      ...headers,
      'Content-Type': 'application/json',
      'User-Agent': USER_AGENT,
      'X-Message-Id': messageId,
    };
    if (sharedSecret !== undefined) signed['X-Signature'] = signBody(body, sharedSecret);
    return this.targets.filter(({ url }) => !failedUrls.includes(url)).map((target) => this.post(target, signed, body));
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  private async post(target: WebhookTarget, headers: Record<string, string>, body: string): Promise<SendResult> {
    const start = Date.now();
    const abort = new AbortController();
    const deadline = setTimeout(() => {
      abort.abort(new Error(`no complete answer within ${this.timeout} ms`));
    }, this.timeout);
    const ended = (result: Pick<UrlResult, 'outcome' | 'status' | 'error'>): UrlResult => ({
      url: target.shown,
      duration: Date.now() - start,
      ...result,
    });
    try {
      const { status, retryAfter } = await this.transport.send({
        target,
        headers: target.authorization ? { Authorization: target.authorization, ...headers } : headers,
        body,
        signal: abort.signal,
      });
      return {
        url: target.url,
        result: ended({ outcome: classifyStatus(status), status }),
        retryAfter: parseRetryAfter(retryAfter, Date.now()),
      };
    } catch (error) {
      return { url: target.url, result: ended({ outcome: classifyError(error), error: describe(error) }) };
    } finally {
      clearTimeout(deadline);
    }
  }
}
