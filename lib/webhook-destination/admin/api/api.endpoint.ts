import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { isPlainObject } from '../../../client/message/message.rules.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { parseBody, readBody } from '../../ingest/body.reader.js';
import { answerError, answerJson } from '../../ingest/json-answer.js';
import { admitRequest } from '../../ingest/pipelining-limit.js';
import { RequestError } from '../../ingest/request.error.js';
import type { AdminCaller } from '../admin.caller.js';
import { toRefusal } from '../admin.errors.js';
import type { AdminGate } from '../admin.gate.js';
import type { AuditLog } from '../audit.log.js';
import { checkContentType, checkSite } from '../request.rules.js';
import type { ApiRouter } from './api.router.js';
import { QueryReader } from './query.reader.js';

/** Caller of the routes that anyone may use. */
const NOBODY: AdminCaller = { access: 'read', by: 'token' };

/** Handles API requests: authenticates them, parses them and passes them to their routes. */
export class ApiEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');

  constructor(
    readonly router: ApiRouter,
    private readonly gate: AdminGate,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Never rejects.
   *
   * @param target path below the base, with the query
   * @param context the request as the HTTP platform passes it to guards
   */
  async handle(
    target: string,
    request: IncomingMessage,
    response: ServerResponse,
    context: ExecutionContext,
  ): Promise<void> {
    if (!admitRequest(request, response)) return;
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    try {
      const answer = await this.answer(target, request, response, context);
      if (answer) answerJson(request, response, 200, answer);
    } catch (error) {
      const refusal = toRefusal(error, this.logger, 'to the API');
      if (response.headersSent) return void response.end();
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    }
  }

  close(): void {
    this.logger.end();
  }

  private async answer(
    target: string,
    request: IncomingMessage,
    response: ServerResponse,
    context: ExecutionContext,
  ): Promise<object | undefined> {
    checkSite(request);
    const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
    const found = this.router.find(request.method, path);
    const needed = found instanceof RequestError ? 'read' : found.route.access;
    // Only authenticated callers may learn that a route does not exist.
    const caller = needed === 'anyone' ? NOBODY : await this.gate.authorize(context, needed);
    if (found instanceof RequestError) throw found;
    if (request.method !== 'GET') checkContentType(request);
    return found.route.handle({
      caller,
      params: found.params,
      query: new QueryReader(new URLSearchParams(query), found.route.query),
      body: request.method === 'GET' ? {} : await readObject(request),
      request,
      response,
      audit: (entry) =>
        this.audit.record({ ...entry, by: caller.by, user: caller.user, address: this.gate.addressOf(request) }),
    });
  }
}

/** @throws {RequestError} 400 for a body that is not an object */
async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readBody(request);
  if ('bytes' in body && body.bytes.length === 0) return {};
  const value = parseBody(body);
  if (isPlainObject(value)) return value;
  throw new RequestError(400, 'body_not_object', 'the body must be an object', 'body');
}
