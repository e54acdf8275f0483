import type { IncomingMessage, ServerResponse } from 'node:http';

import { errorMessage } from '../../../client/error.util.js';
import { parseBody, readBody } from '../../http/body.reader.js';
import type { CountedCaller } from '../../http/caller.quota.js';
import type { PlatformPair } from '../../http/http.mount.js';
import { checkContentType, divide, JsonEndpoint, readObject } from '../../http/json.endpoint.js';
import { QueryReader } from '../../http/query.reader.js';
import { siteOf } from '../../http/request-site.util.js';
import { RequestError, toRefusal } from '../../http/request.error.js';
import type { AuditLog } from '../../observe/audit.log.js';
import { type AdminGate, checkAccess } from '../admin.gate.js';
import type { AdminAccess, AdminCaller } from '../admin.options.js';
import { type ApiCaller, toTarget } from '../mcp/api-caller.interface.js';
import type { AdminProcess } from './admin-services.interface.js';
import type { ApiRequest, ApiRoute } from './api.route.js';

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
export class ApiEndpoint extends JsonEndpoint<ApiRoute> {
  constructor(
    routes: ApiRoute[],
    private readonly deletion: AdminProcess['deletion'],
    private readonly gate: AdminGate,
    private readonly audit: AuditLog,
  ) {
    super(routes, 'WebhookDestinationAdmin');
  }

  handle(target: string, request: IncomingMessage, response: ServerResponse, platform: PlatformPair): Promise<void> {
    const [path, query] = divide(target);
    const found = this.find(request.method, path);
    const subject = found instanceof RequestError ? {} : subjectOf(found.route, found.params);
    return this.answerOwn(request, response, 'to the API', subject, async (begin) => {
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
        query: new QueryReader(query, found.route.query ?? {}),
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
      const [path, query] = divide(target);
      const found = this.find(method, path);
      if (found instanceof RequestError) throw found;
      const { route, params } = found;
      const subject = { ...subjectOf(route, params), caller: given.caller };
      try {
        checkAccess(given.caller, route.access === 'write' ? 'write' : 'read');
        const audit = this.recorderOf(given.request, subject);
        const reader = new QueryReader(query, route.query ?? {});
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
    return this.answerOwn(request, response, 'for a deletion', subject, async (begin) => {
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

  /** Answers a request that no page of another origin has sent, and records what is refused. */
  private answerOwn(
    request: IncomingMessage,
    response: ServerResponse,
    what: string,
    subject: Subject,
    work: (begin: (caller: CountedCaller) => void) => Promise<object | undefined>,
  ): Promise<void> {
    const workIfOwn: typeof work = (begin) => {
      checkSite(request);
      return work(begin);
    };
    return this.answer(request, response, workIfOwn, (error) => {
      const refusal = toRefusal(error, this.logger, what);
      this.record(request, refusal, subject);
      return refusal;
    });
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

/** Returns how a caller is counted: requests with the same sign-in, access and user from one address are of one caller. */
function toCounted({ by, user, access }: AdminCaller, address: string): CountedCaller {
  return { access, key: JSON.stringify([by, access, user, address]) };
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
