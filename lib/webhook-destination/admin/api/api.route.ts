import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Observable } from 'rxjs';

import type { CountedCaller } from '../../http/caller.quota.js';
import type { JsonRoute } from '../../http/json.endpoint.js';
import type { QueryReader } from '../../http/query.reader.js';
import type { Schema } from '../../http/route.controller.js';
import type { AuditEntry } from '../../observe/audit.log.js';
import type { AdminAccess, AdminCaller } from '../admin.options.js';

/** Descriptions of the responses of every route. */
export const ANSWERS: Record<number, string> = {
  200: 'Done',
  400: 'A field breaks a rule; the answer names both',
  401: 'The caller is not authenticated',
  403: 'The caller may not do this, or a page of another origin sent the request',
  429: 'Too much is in progress for the caller, or for all callers',
  503: 'The queue is unavailable or full',
};

/** An authenticated and parsed API request. */
export interface ApiRequest {
  caller: AdminCaller;
  /** The caller, as limits count it. */
  counted: CountedCaller;
  /** Path parameters of the route, decoded. */
  params: Record<string, string>;
  query: QueryReader;
  /** The object in the body; empty if the request has none. */
  body: Record<string, unknown>;
  request: IncomingMessage;
  response: ServerResponse;
  /** Emits once the caller is no longer admitted. */
  refused$: Observable<unknown>;
  /** Records an action in the audit log. */
  audit: (entry: Omit<AuditEntry, 'at' | 'by' | 'user' | 'address'>) => void;
}

/** A route of the API. Its path is below `/relay/api`; without `query`, its query must be empty. */
export interface ApiRoute extends JsonRoute {
  /** Access that the caller needs; `'anyone'` for the routes that sign in and out. */
  access: AdminAccess | 'anyone';
  /** Returns the body of the answer, or undefined if the handler answers by itself. */
  handle: (request: ApiRequest) => object | undefined | Promise<object | undefined>;
}

/** Creates a route that only reads. */
export function readRoute(
  path: string,
  summary: string,
  handle: ApiRoute['handle'],
  query?: ApiRoute['query'],
): ApiRoute {
  return { method: 'GET', path, access: 'read', summary, handle, query };
}

/** Creates a route that changes something. */
export function changeRoute(
  method: Exclude<ApiRoute['method'], 'GET'>,
  path: string,
  summary: string,
  handle: ApiRoute['handle'],
  schema: Schema | undefined = method === 'DELETE' ? undefined : { type: 'object' },
): ApiRoute {
  return { method, path, access: 'write', summary, handle, schema };
}
