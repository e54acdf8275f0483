import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { RelayError } from '../../client/relay.error.js';
import { errorMessage } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { parseBody, readBody } from '../ingest/body.reader.js';
import { IngestError, QUEUE_RETRY_AFTER } from '../ingest/ingest.error.js';
import { answerError, answerJson } from '../ingest/json.answer.js';
import { admitRequest } from '../ingest/pipeline.limit.js';
import type { AdminGate } from './admin.gate.js';
import { DeletionFault } from './deletion.request.js';
import type { UserDeletion } from './user.deletion.js';

/** Answers `POST /v1/delete`. */
export class DeletionEndpoint {
  private readonly logger = new LineLogger('WebhookDestinationAdmin');

  private gate: AdminGate = () => Promise.reject(new RelayError('starting', 'the application is still starting'));

  constructor(private readonly deletion: UserDeletion) {}

  /** Comes before the first request. */
  open(gate: AdminGate): void {
    this.gate = gate;
  }

  /**
   * Never rejects.
   *
   * @param context that of the application's guard
   */
  async handle(request: IncomingMessage, response: ServerResponse, context: () => ExecutionContext): Promise<void> {
    if (!admitRequest(request, response)) return;
    try {
      checkSameSite(request);
      await this.gate(request, context);
      answerJson(request, response, 200, {
        success: true,
        ...(await this.deletion.request(parseBody(await readBody(request)))),
      });
    } catch (error) {
      const refusal = this.toIngestError(error);
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  private toIngestError(error: unknown): IngestError {
    if (error instanceof IngestError) return error;
    if (error instanceof DeletionFault) return new IngestError(400, error.code, error.message, error.field);
    this.logger.error(`A deletion was not done: ${errorMessage(error)}`);
    const rule = 'the deletion was not done; ask for it again';
    return new IngestError(503, 'deletion_failed', rule, undefined, QUEUE_RETRY_AFTER);
  }
}

/**
 * Refuses what a page of another site can make a browser send, with the cookies of an administrator.
 *
 * @throws {IngestError} 403 or 415
 */
function checkSameSite({ headers }: IncomingMessage): void {
  if (headers['sec-fetch-site'] === 'cross-site') {
    throw new IngestError(403, 'cross_site', 'pages of another site must not send this request', 'Sec-Fetch-Site');
  }
  // Browsers send this type to another site only after a CORS preflight; forms cannot have it.
  if (!/^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new IngestError(415, 'content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
  }
}
