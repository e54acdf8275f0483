import type { IncomingMessage, ServerResponse } from 'node:http';

import { checkContentType, divide, JsonEndpoint, readObject } from '../../http/json.endpoint.js';
import { QueryReader } from '../../http/query.reader.js';
import type { AuditLog } from '../../observe/audit.log.js';
import { RateLimiter } from '../../http/rate.limiter.js';
import { refuseUntil, RequestError } from '../../http/request.error.js';
import { type PortalCaller, type PortalGate, toCountedTenant } from '../portal.gate.js';
import { toTenantFault } from './portal.faults.js';
import type { PortalRequest, PortalRoute } from './portal.route.js';

/** Changes allowed for a tenant: each writes to the store, or sends a request. */
const CHANGES = { limit: 300, ttl: 60_000 };

/** What the audit log has of a request that fails. */
interface Subject {
  route?: string;
  /** The id in the path. */
  target?: string | undefined;
  isChange?: boolean;
  caller?: PortalCaller;
  isRecorded?: boolean;
}

/** Answers requests to the portal's API: authenticates and parses them. Pages of all origins are alike: there are no cookies. */
export class PortalEndpoint extends JsonEndpoint<PortalRoute> {
  private readonly changes = new RateLimiter(CHANGES);

  constructor(
    routes: PortalRoute[],
    private readonly gate: PortalGate,
    private readonly audit: AuditLog,
  ) {
    super(routes, 'WebhookDestinationPortal');
  }

  handle(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path, query] = divide(target);
    const found = this.find(request.method, path);
    const subject: Subject = found instanceof RequestError ? {} : subjectOf(found.route, found.params);
    return this.answer(
      request,
      response,
      async (begin) => {
        const caller = (subject.caller = await this.gate.authenticate(request));
        // Only the holder of a link may learn that a route does not exist.
        if (found instanceof RequestError) throw found;
        const { route, params } = found;
        if (route.access === 'write' && caller.access !== 'write') {
          throw new RequestError('read_only', 'this link may only read');
        }
        const counted = toCountedTenant(caller);
        begin(counted);
        if (request.method !== 'GET') checkContentType(request);
        // Also secrets, which are recorded each time.
        if (route.access === 'write') refuseUntil(this.changes.count(caller.tenant), 'too many changes', 'path');
        return route.handle({
          caller,
          counted,
          params,
          query: new QueryReader(query, route.query ?? {}),
          body: request.method === 'GET' ? {} : await readObject(request),
          audit: this.recorderOf(request, subject),
        });
      },
      (error) => {
        const refusal = toTenantFault(error, this.logger);
        this.record(request, refusal, subject);
        return refusal;
      },
    );
  }

  private recorderOf(request: IncomingMessage, subject: Subject): PortalRequest['audit'] {
    return (entry) => {
      subject.isRecorded = true;
      this.audit.record({ ...entry, ...this.byWhom(request, subject) });
    };
  }

  /** Records forged tokens, refusals for lack of rights, and changes that failed. */
  private record(request: IncomingMessage, refusal: RequestError, subject: Subject): void {
    const { route, caller, target, isChange, isRecorded } = subject;
    const { code, status } = refusal;
    const by = this.byWhom(request, subject);
    if (!caller) {
      const isForged =
        request.headers.authorization !== undefined && ['portal_token_wrong', 'rate_limited'].includes(code);
      if (isForged) this.audit.refused({ action: 'sign-in.refused', ...by, details: { code, route } });
    } else if (status === 403 || status === 429) {
      this.audit.refused({ action: 'request.refused', target, ...by, details: { code, route } });
    } else if (isChange && !isRecorded) {
      this.audit.record({ action: 'change.failed', target, ...by, details: { code, route } });
    }
  }

  private byWhom(request: IncomingMessage, { caller }: Subject) {
    const address = this.gate.addressOf(request);
    return caller ? { by: 'portal' as const, tenant: caller.tenant, user: caller.person, address } : { address };
  }
}

function subjectOf({ method, path, access }: PortalRoute, params: Record<string, string>): Subject {
  const [target] = Object.values(params);
  return { route: `${method} portal/${path}`, target, isChange: access === 'write' };
}
