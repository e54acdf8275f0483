import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { isPlainObject } from '../../client/message/message.rules.js';
import { describe } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { parseBody, readBody } from '../ingest/body.reader.js';
import { IngestError, QUEUE_RETRY_AFTER } from '../ingest/ingest.error.js';
import { answerError, answerJson } from '../ingest/json.answer.js';
import type { AdminGate } from './admin.gate.js';
import type { DeletionResult, UserDeletion } from './user.deletion.js';

/** Users of one request, at most. */
const MAX_USERS = 1_000;

/** Answers `POST /v1/delete`. */
export class DeletionEndpoint {
  private readonly logger = new LineLogger('WebhookDestinationAdmin');

  private gate!: AdminGate;

  constructor(private readonly deletion: UserDeletion) {}

  /** Comes before the first request. */
  open(gate: AdminGate): void {
    this.gate = gate;
  }

  /**
   * Never rejects.
   *
   * @param context what the application's guard is asked with
   */
  async handle(request: IncomingMessage, response: ServerResponse, context: () => ExecutionContext): Promise<void> {
    try {
      await this.gate.check(request, context);
      answerJson(request, response, 200, {
        success: true,
        ...(await this.delete(parseBody(await readBody(request)))),
      });
    } catch (error) {
      const refusal = this.toIngestError(error);
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  private async delete(body: unknown): Promise<DeletionResult> {
    if (!isPlainObject(body)) throw new IngestError(400, 'body_not_object', 'the body must be an object', 'body');
    const { userId, userIds = [userId], sources } = body;
    if (!Array.isArray(userIds) || !userIds.every(isNonEmptyString) || userIds.length === 0) {
      throw new IngestError(
        400,
        'user_id_not_string',
        'userId, or each of userIds, must be a non-empty string',
        'userId',
      );
    }
    if (userIds.length > MAX_USERS) {
      throw new IngestError(400, 'too_many_users', `userIds must not exceed ${MAX_USERS}`, 'userIds');
    }
    if (
      sources !== undefined &&
      !(Array.isArray(sources) && sources.every(isNonEmptyString) && this.deletion.knows(sources))
    ) {
      throw new IngestError(400, 'source_unknown', 'sources must be an array of one or more source names', 'sources');
    }
    const result = { notifications: 0, purged: 0 };
    for (const userId of new Set(userIds)) {
      const { notifications, purged } = await this.deletion.request({ userId, sources });
      result.notifications += notifications;
      result.purged += purged;
    }
    return result;
  }

  private toIngestError(error: unknown): IngestError {
    if (error instanceof IngestError) return error;
    this.logger.error(`A deletion was not done: ${describe(error)}`);
    const rule = 'the deletion was not done; ask for it again';
    return new IngestError(503, 'deletion_failed', rule, undefined, QUEUE_RETRY_AFTER);
  }
}
