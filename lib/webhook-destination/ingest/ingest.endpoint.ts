import type { IncomingMessage, ServerResponse } from 'node:http';

import { Logger } from '@nestjs/common';

import { isPlainObject } from '../../client/message/message.rules.js';
import { describe } from '../../common/error.util.js';
import { readJsonBody } from './body.reader.js';
import { IngestError } from './ingest.error.js';
import { type IngestRoute } from './ingest.routes.js';
import type { MessageAcceptor } from './message.acceptor.js';
import type { SourceRegistry } from './source.registry.js';
import { readWriteKey } from './write-key.reader.js';

/** When a client may try again while the queue takes nothing, in s. */
const RETRY_AFTER = 5;

interface Posted {
  messages: unknown[];
  sentAt: unknown;
}

/** Answers SDKs: authenticates a request, takes its messages, and says what became of them. */
export class IngestEndpoint {
  private readonly logger = new Logger('WebhookDestinationIngest');

  constructor(
    private readonly sources: SourceRegistry,
    private readonly acceptor: MessageAcceptor,
  ) {}

  /** Handles a POST to a route. Never rejects. */
  async handle(route: IngestRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      answer(response, 200, await this.take(route, request));
    } catch (error) {
      const { status, code, message, field } = this.toIngestError(error);
      if (status === 503) response.setHeader('Retry-After', RETRY_AFTER);
      // What is left of a refused body is not worth reading.
      if (!request.complete) response.setHeader('Connection', 'close');
      answer(response, status, { code, message, field });
    }
  }

  private async take(route: IngestRoute, request: IncomingMessage): Promise<object> {
    const body = await readJsonBody(request);
    const writeKey = readWriteKey(request.headers.authorization, body);
    const source = writeKey === undefined ? undefined : this.sources.find(writeKey);
    if (source === undefined) {
      throw new IngestError(401, 'write_key_unknown', 'the write key must be that of a source', 'writeKey');
    }
    const { messages, sentAt } = toPosted(route, body);
    const { rejected } = await this.acceptor.accept(source, messages, sentAt);
    const [first] = rejected;
    if (first && route !== 'batch') throw new IngestError(400, first.code, first.message, first.field);
    return rejected.length > 0 ? { success: true, rejected } : { success: true };
  }

  private toIngestError(error: unknown): IngestError {
    if (error instanceof IngestError) return error;
    this.logger.error(`Messages could not be queued: ${describe(error)}`);
    return new IngestError(503, 'queue_unavailable', 'the queue takes no messages now; try again later');
  }
}

function toPosted(route: IngestRoute, body: unknown): Posted {
  if (!isPlainObject(body)) throw new IngestError(400, 'body_not_object', 'the body must be an object');
  const { batch, sentAt } = body;
  if (route !== 'batch') return { messages: [{ ...body, type: route }], sentAt };
  if (!Array.isArray(batch)) throw new IngestError(400, 'batch_not_array', 'batch must be an array', 'batch');
  return { messages: batch, sentAt };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
