import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { RelayError } from '../../client/relay.error.js';
import { errorMessage } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { parseBody, readBody } from '../ingest/body.reader.js';
import { RequestError, QUEUE_RETRY_AFTER } from '../ingest/request.error.js';
import { answerError, answerJson } from '../ingest/json-answer.js';
import { admitRequest } from '../ingest/pipeline-limit.js';
import type { AdminGate } from './admin.gate.js';
import type { AdminEndpoint } from './admin.mount.js';
import type { UserDeletion } from './user-deletion.js';

/** Answers `POST /v1/delete`. */
export class DeletionEndpoint implements AdminEndpoint {
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
   * @param context the request as the HTTP platform gives it to guards
   */
  async handle(request: IncomingMessage, response: ServerResponse, context: ExecutionContext): Promise<void> {
    if (!admitRequest(request, response)) return;
    try {
      checkSameSite(request);
      await this.gate(context, 'write');
      answerJson(request, response, 200, {
        success: true,
        ...(await this.deletion.request(parseBody(await readBody(request)))),
      });
    } catch (error) {
      const refusal = this.toRequestError(error);
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  private toRequestError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    this.logger.error(`A deletion was not done: ${errorMessage(error)}`);
    const rule = 'the deletion was not done; ask for it again';
    return new RequestError(503, 'deletion_failed', rule, undefined, QUEUE_RETRY_AFTER);
  }
}

/**
 * Refuses what a page of another site can make a browser send, with the cookies of an administrator.
 *
 * @throws {RequestError} 403 or 415
 */
function checkSameSite({ headers }: IncomingMessage): void {
  if (headers['sec-fetch-site'] === 'cross-site') {
    throw new RequestError(403, 'cross_site', 'pages of another site must not send this request', 'Sec-Fetch-Site');
  }
  // Browsers send this type to another site only after a CORS preflight; forms cannot have it.
  if (!/^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new RequestError(415, 'content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
  }
}
