import type { JsonRoute } from '../../http/json.endpoint.js';
import type { QueryReader } from '../../http/query.reader.js';
import type { AuditEntry } from '../../observe/audit.log.js';
import type { CountedCaller } from '../../http/caller.quota.js';
import type { Schema } from '../../http/route.controller.js';
import type { PortalCaller } from '../portal.gate.js';
import type { PortalAccess } from '../portal.token.js';

/** Descriptions of the responses of every route. */
export const ANSWERS: Record<number, string> = {
  200: 'Done',
  400: 'A field breaks a rule; the answer names both',
  401: 'No token, a wrong one, or one of a link that has expired or was revoked',
  403: 'The link may only read',
  404: 'The tenant has no endpoint or delivery with this id',
  429: 'Too much is in progress for the tenant, or for all tenants',
  503: 'The queue is unavailable',
};

/** An authenticated and parsed request to the portal's API. */
export interface PortalRequest {
  caller: PortalCaller;
  /** The caller, as limits count it. */
  counted: CountedCaller;
  /** Path parameters of the route, decoded. */
  params: Record<string, string>;
  query: QueryReader;
  /** The object in the body; empty if the request has none. */
  body: Record<string, unknown>;
  /** Records an action in the audit log. */
  audit: (entry: Pick<AuditEntry, 'action' | 'target' | 'details'>) => void;
}

/** A route of the portal's API. Its path is below `/relay/portal/api`. */
export interface PortalRoute extends JsonRoute {
  access: PortalAccess;
  /** Schema of the answer. */
  answer: Schema;
  handle: (request: PortalRequest) => object | Promise<object>;
}
