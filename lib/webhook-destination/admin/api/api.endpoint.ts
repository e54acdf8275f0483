import type { IncomingMessage, ServerResponse } from 'node:http';

import { errorMessage } from '../../../client/error.util.js';
import { isPlainObject } from '../../../client/message/message.rules.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { admitRequest, answerError, answerText } from '../../http/answer.util.js';
import { parseBody, readBody } from '../../http/body.reader.js';
import type { PlatformPair } from '../../http/http.mount.js';
import { RequestError } from '../../http/request.error.js';
import { toRefusal } from '../admin.errors.js';
import { type AdminGate, checkAccess } from '../admin.gate.js';
import type { AdminAccess, AdminCaller } from '../admin.options.js';
import type { AuditLog } from '../audit.log.js';
import { type CountedCaller, type QuotaShare, toCounted } from '../caller.quota.js';
import { removeCors, siteOf } from '../request-site.util.js';
import { type ApiCaller, toTarget } from '../mcp/api-caller.interface.js';
import type { AdminProcess } from './admin-services.interface.js';
import { AnswerLimit } from './answer.limit.js';
import type { ApiRequest, ApiRoute } from './api.route.js';
import { QueryReader } from './query.reader.js';

/** Caller of the routes that anyone may use. */
const NOBODY: AdminCaller = { access: 'read', by: 'token' };

/**
 * Maximum size of the body of a sign-in or sign-out, in bytes. Nothing else limits how many are in progress: strangers
 * could use up such a limit, and keep administrators out.
 */
const SIGN_IN_BYTES = 8_192;

/** What the audit log has of a request that fails. */
interface Subject {
  route?: string;
  /** Name or id in the path, apart from a user's. */
  target?: string | undefined;
  /** User in the path. */
  userIds?: string[] | undefined;
  isChange?: boolean;
  caller?: AdminCaller;
  isRecorded?: boolean;
}

/** Answers requests to the API, and to `POST /<prefix>/delete`: authenticates and parses them. */
export class ApiEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private readonly limit = new AnswerLimit();

  constructor(
    readonly routes: ApiRoute[],
    private readonly deletion: AdminProcess['deletion'],
    private readonly gate: AdminGate,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Answers a request to the API. Never rejects.
   *
   * @param target path below the base, with the query
   */
  handle(target: string, request: IncomingMessage, response: ServerResponse, platform: PlatformPair): Promise<void> {
    const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
    const found = this.find(request.method, path);
    const subject = found instanceof RequestError ? {} : subjectOf(found.route, found.params);
    return this.answer(request, response, 'to the API', subject, async (begin) => {
      const needed = found instanceof RequestError ? 'read' : found.route.access;
      // Only authenticated callers may learn that a route does not exist.
      const caller = needed === 'anyone' ? NOBODY : await this.admit(platform, needed, subject);
      if (found instanceof RequestError) throw found;
      const counted = toCounted(caller, this.gate.addressOf(request));
      if (caller !== NOBODY) begin(counted);
      if (request.method !== 'GET') checkContentType(request);
      return found.route.handle({
        caller,
        counted,
        params: found.params,
        query: new QueryReader(new URLSearchParams(query), found.route.query),
        body: request.method === 'GET' ? {} : await readObject(request, caller === NOBODY ? SIGN_IN_BYTES : undefined),
        request,
        response,
        refused$: this.gate.refused$(platform),
        audit: this.recorderOf(request, subject),
      });
    });
  }

  /** Returns what calls routes as the caller of a request to another route, whose limits it shares. */
  callerOf(given: ApiRequest): ApiCaller {
    const call = async (method: string, target: string, body: Record<string, unknown>) => {
      const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
      const found = this.find(method, path);
      if (found instanceof RequestError) throw found;
      const { route, params } = found;
      const subject = { ...subjectOf(route, params), caller: given.caller };
      try {
        checkAccess(given.caller, route.access === 'write' ? 'write' : 'read');
        const audit = this.recorderOf(given.request, subject);
        const reader = new QueryReader(new URLSearchParams(query), route.query);
        return await route.handle({ ...given, params, query: reader, body, audit });
      } catch (error) {
        const refusal = toRefusal(error, this.logger, 'to the API');
        this.record(given.request, refusal, subject);
        throw refusal;
      }
    };
    return {
      get: (path, query) => call('GET', toTarget(path, query), {}),
      post: (path, body) => call('POST', path, body as Record<string, unknown>),
    };
  }

  /** Answers `POST /<prefix>/delete`. Never rejects. */
  handleDeletion(request: IncomingMessage, response: ServerResponse, platform: PlatformPair): Promise<void> {
    const subject: Subject = { route: 'POST delete', isChange: true };
    return this.answer(request, response, 'for a deletion', subject, async (begin) => {
      checkContentType(request);
      const caller = await this.admit(platform, 'write', subject);
      begin(toCounted(caller, this.gate.addressOf(request)));
      const deletion = parseBody(await readBody(request));
      try {
        return { success: true, ...(await this.deletion.request(deletion, this.recorderOf(request, subject))) };
      } catch (error) {
        if (error instanceof RequestError) throw error;
        this.logger.limited('error', `A deletion failed: ${errorMessage(error)}`);
        throw new RequestError('deletion_failed', 'the deletion failed; send the request again'); // it may be incomplete
      }
    });
  }

  close(): void {
    this.logger.end();
  }

  /** @param work calls `begin` once the caller is known, before it reads the body */
  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    what: string,
    subject: Subject,
    work: (begin: (caller: CountedCaller) => void) => Promise<object | undefined>,
  ): Promise<void> {
    if (!admitRequest(request, response)) return;
    removeCors(response);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    let share: QuotaShare | undefined;
    let isStream = false;
    const begin = (caller: CountedCaller) => void (share = this.limit.begin(caller));
    try {
      checkSite(request);
      const answer = await work(begin);
      isStream = answer === undefined && !response.writableEnded;
      if (answer) answerText(request, response, 200, this.limit.toJson(answer, share));
    } catch (error) {
      const refusal = toRefusal(error, this.logger, what);
      this.record(request, refusal, subject);
      if (response.headersSent) return void response.end();
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    } finally {
      if (share && isStream)
        share.release(); // the live feed limits it
      else if (share) this.limit.end(share, request, response);
    }
  }

  /**
   * Returns the matching route, with its path parameters; without one, the refusal: 404 or 405, or 400 for a path with
   * invalid percent-encoding.
   */
  private find(
    method: string | undefined,
    path: string,
  ): { route: ApiRoute; params: Record<string, string> } | RequestError {
    const given = decode(path.replace(/\/$/, ''));
    if (!given) return new RequestError('path_invalid', 'the path must be percent-encoded UTF-8', 'path');
    const matching = this.routes.flatMap((route) => {
      const parts = route.path.split('/');
      const isMatch = (part: string, index: number) =>
        part.startsWith(':') ? given[index] !== '' : part === given[index];
      return parts.length === given.length && parts.every(isMatch) ? [{ route, parts }] : [];
    });
    if (matching.length === 0) return new RequestError('route_unknown', 'the API has no such route', 'path');
    const found = matching.find(({ route }) => route.method === method);
    if (!found) {
      const methods = matching.map(({ route }) => route.method).join(', ');
      return new RequestError('method_unknown', `this route has ${methods} only`, 'method');
    }
    const named = found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), given[index]!]] : []));
    return { route: found.route, params: Object.fromEntries(named) as Record<string, string> };
  }

  /** @throws {RequestError} 401, 403, 429, or 500 if the guard failed */
  private async admit(platform: PlatformPair, needed: AdminAccess, subject: Subject): Promise<AdminCaller> {
    const caller = await this.gate.authenticate(platform);
    subject.caller = caller;
    checkAccess(caller, needed);
    return caller;
  }

  private recorderOf(request: IncomingMessage, subject: Subject): ApiRequest['audit'] {
    return (entry) => {
      subject.isRecorded = true;
      const { by, user } = subject.caller ?? {};
      this.audit.record({ ...entry, by, user, address: this.gate.addressOf(request) });
    };
  }

  /** Records a refusal for lack of rights, and a change that failed, unless its route has recorded it. */
  private record(request: IncomingMessage, refusal: RequestError, subject: Subject): void {
    const { route, caller, target, userIds, isChange, isRecorded } = subject;
    if (!caller || caller.access === 'read') {
      const about = { by: caller?.by, user: caller?.user, target, userIds, details: { route } };
      return this.gate.recordRefusal(request, refusal, about);
    }
    if (!isChange || isRecorded) return;
    const details = { code: refusal.code, route };
    this.recorderOf(request, subject)({ action: 'change.failed', target, userIds, details });
  }
}

function subjectOf({ method, path, access }: ApiRoute, { userId, ...params }: Record<string, string>): Subject {
  const [target] = Object.values(params);
  const userIds = userId === undefined ? undefined : [userId];
  return { route: `${method} ${path}`, target, userIds, isChange: access === 'write' };
}

/**
 * Refuses requests that a page of another origin, also one of the same site, makes the browser send with an
 * administrator's cookies.
 *
 * @throws {RequestError} 403
 */
function checkSite(request: IncomingMessage): void {
  if (siteOf(request) !== 'other') return;
  throw new RequestError('cross_site', 'pages of another origin must not send this request', 'Sec-Fetch-Site');
}

/**
 * Refuses requests that a browser sends to another site without a CORS preflight, as from a form: a `POST` without a
 * content type of JSON and without a bearer token. Bodies must be JSON in any case.
 *
 * @throws {RequestError} 415
 */
function checkContentType({ method, headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (/^application\/json[ \t]*(;|$)/i.test(type ?? '')) return;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  const needsPreflight = method !== 'POST' || /^Bearer /i.test(headers.authorization ?? '');
  if (type === undefined && !hasBody && needsPreflight) return;
  throw new RequestError('content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
}

/** Returns the decoded parts of a path; undefined if it is not percent-encoded UTF-8. */
function decode(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** @throws {RequestError} 400 for a body that is not an object */
async function readObject(request: IncomingMessage, most?: number): Promise<Record<string, unknown>> {
  const body = await readBody(request, most);
  if ('bytes' in body && body.bytes.length === 0) return {};
  const value = parseBody(body);
  if (isPlainObject(value)) return value;
  throw new RequestError('body_not_object', 'the body must be an object', 'body');
}
