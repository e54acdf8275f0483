import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { errorMessage } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { parseBody, readBody } from '../ingest/body.reader.js';
import { QUEUE_RETRY_AFTER, RequestError } from '../ingest/request.error.js';
import { answerError, answerJson } from '../ingest/json-answer.js';
import { admitRequest } from '../ingest/pipelining-limit.js';
import type { AdminGate } from './admin.gate.js';
import type { AdminRelay } from './api/admin-services.interface.js';
import type { AuditLog } from './audit.log.js';
import type { DeletionRequest } from './deletion-request.js';
import { checkContentType, checkSite } from './request.rules.js';

/** Maximum number of users named in an audit entry. */
const MAX_NAMED = 10;

/** Answers `POST /v1/delete`. */
export class DeletionEndpoint {
  private readonly logger = new LineLogger('WebhookDestinationAdmin');

  constructor(
    private readonly relay: Pick<AdminRelay, 'requestDeletion'>,
    private readonly gate: AdminGate,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Never rejects.
   *
   * @param context the request as the HTTP platform passes it to guards
   */
  async handle(request: IncomingMessage, response: ServerResponse, context: ExecutionContext): Promise<void> {
    if (!admitRequest(request, response)) return;
    try {
      checkSite(request);
      checkContentType(request);
      const { by, user } = await this.gate.authorize(context);
      const deletion = parseBody(await readBody(request)) as DeletionRequest; // requestDeletion checks it
      const result = await this.relay.requestDeletion(deletion);
      const { userId, userIds = [], sources } = deletion;
      const users = userId === undefined ? userIds : [userId, ...userIds];
      const details = { users: users.length, userIds: users.slice(0, MAX_NAMED), sources, ...result };
      const address = this.gate.addressOf(request);
      this.audit.record({ action: 'user.delete', by, user, address, target: users[0], details });
      answerJson(request, response, 200, { success: true, ...result });
    } catch (error) {
      const refusal = this.toRequestError(error);
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  private toRequestError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    this.logger.error(`A deletion failed: ${errorMessage(error)}`);
    const rule = 'the deletion failed; send the request again';
    return new RequestError(503, 'deletion_failed', rule, undefined, QUEUE_RETRY_AFTER);
  }
}
