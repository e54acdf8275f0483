import type { IncomingMessage, ServerResponse } from 'node:http';

import { describe } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { LogLimiter } from '../../common/log.limiter.js';
import type { IngestOptions } from '../options/ingest.options.js';
import { parseBody, readBody } from './body.reader.js';
import { CorsPolicy } from './cors.policy.js';
import { IngestError, QUEUE_RETRY_AFTER } from './ingest.error.js';
import type { IngestRoute } from './ingest.routes.js';
import type { MessageAcceptor } from './message.acceptor.js';
import { toPostedBatch } from './posted.batch.js';
import { readPosted } from './posted.body.js';
import { answerError, answerJson } from './json.answer.js';
import { RateLimiter } from './rate.limiter.js';
import type { SourceRegistry } from './source.registry.js';
import { readKeyOfBody, readKeyOfHeader } from './write-key.reader.js';

const SUCCESS = { success: true };

/** Answers SDKs: authenticates a request, takes its messages, and says what became of them. */
export class IngestEndpoint {
  private readonly log = new LogLimiter(new LineLogger('WebhookDestinationIngest'));
  private readonly rateLimiter: RateLimiter | undefined;
  private closing = false;
  /** Which web pages may post; none where it is undefined. */
  readonly cors: CorsPolicy | undefined;

  constructor(
    private readonly sources: SourceRegistry,
    private readonly acceptor: MessageAcceptor,
    { cors, rateLimit }: IngestOptions,
  ) {
    this.cors = cors === false ? undefined : new CorsPolicy(cors);
    this.rateLimiter = rateLimit && new RateLimiter(rateLimit);
  }

  /** The server is about to close: connections end with their next answer, or a busy client would keep it open. */
  close(): void {
    this.closing = true;
    this.log.end();
  }

  /** Handles a POST to a route. Never rejects. */
  async handle(route: IngestRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.cors?.apply(request, response);
    try {
      const answer = await this.take(route, request);
      this.endConnection(response);
      answerJson(request, response, 200, answer);
    } catch (error) {
      this.endConnection(response);
      answerError(request, response, this.toIngestError(error));
    }
  }

  private endConnection(response: ServerResponse): void {
    if (this.closing) response.setHeader('Connection', 'close');
  }

  private async take(route: IngestRoute, request: IncomingMessage): Promise<object> {
    if (route === 'metrics') {
      parseBody(await readBody(request));
      return SUCCESS;
    }
    // A key in the header is judged before the body is read.
    const key = readKeyOfHeader(request.headers.authorization);
    const known = key === undefined ? undefined : this.authenticate(key);
    const posted = readPosted(route, await readBody(request));
    const source = known ?? this.authenticate(readKeyOfBody(posted.value));

    const { rejected } = await this.acceptor.accept(source, toPostedBatch(route, posted));
    const [first] = rejected;
    if (first && route !== 'batch') throw new IngestError(400, first.code, first.message, first.field);
    return first ? { ...SUCCESS, rejected } : SUCCESS;
  }

  /** The name of the source that has the key, if it may make one more request. */
  private authenticate(writeKey: string | undefined): string {
    const source = writeKey === undefined ? undefined : this.sources.find(writeKey);
    if (source === undefined) {
      throw new IngestError(401, 'write_key_unknown', 'the write key must be that of a source', 'writeKey');
    }
    const wait = this.rateLimiter?.count(source);
    if (wait === undefined) return source;
    const seconds = Math.ceil(wait / 1000);
    throw new IngestError(429, 'rate_limited', `the source must wait ${seconds} s`, 'writeKey', seconds);
  }

  private toIngestError(error: unknown): IngestError {
    if (error instanceof IngestError) return error;
    this.log.write('error', `Messages could not be queued: ${describe(error)}`);
    const rule = 'the queue takes no messages now; try again later';
    return new IngestError(503, 'queue_unavailable', rule, undefined, QUEUE_RETRY_AFTER);
  }
}
