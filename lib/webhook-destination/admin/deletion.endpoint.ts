import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { parseBody, readBody } from '../ingest/body.reader.js';
import { QUEUE_RETRY_AFTER, RequestError } from '../ingest/request.error.js';
import { answerError, answerJson } from '../ingest/json-answer.js';
import { admitRequest } from '../ingest/pipelining-limit.js';
import { toRefusal } from './admin.errors.js';
import type { AdminGate } from './admin.gate.js';
import type { AdminRelay } from './api/admin-services.interface.js';
import type { AuditLog } from './audit.log.js';
import type { DeletionRequest } from './deletion-request.js';
import { checkContentType, checkSite } from './request.rules.js';
import type { DeletionResult } from './user-deletion.js';

/** Maximum number of users named in an audit entry. */
const MAX_NAMED = 10;

/** Answers `POST /v1/delete`. */
export class DeletionEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');

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
      const result = await this.requestDeletion(deletion);
      const { userId, userIds = [], sources } = deletion;
      const users = userId === undefined ? userIds : [userId, ...userIds];
      const details = { users: users.length, userIds: users.slice(0, MAX_NAMED), sources, ...result };
      const address = this.gate.addressOf(request);
      this.audit.record({ action: 'user.delete', by, user, address, target: users[0], details });
      answerJson(request, response, 200, { success: true, ...result });
    } catch (error) {
      const refusal = toRefusal(error, this.logger, 'for a deletion');
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  close(): void {
    this.logger.end();
  }

  /** @throws {RequestError} 503 for a deletion that may be incomplete */
  private async requestDeletion(deletion: DeletionRequest): Promise<DeletionResult> {
    try {
      return await this.relay.requestDeletion(deletion);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      this.logger.limited('error', `A deletion failed: ${errorMessage(error)}`);
      const rule = 'the deletion failed; send the request again';
      throw new RequestError(503, 'deletion_failed', rule, undefined, QUEUE_RETRY_AFTER);
    }
  }
}
