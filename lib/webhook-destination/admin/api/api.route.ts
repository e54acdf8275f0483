import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Schema } from '../../openapi.util.js';
import type { AdminCaller } from '../admin.caller.js';
import type { AdminAccess } from '../admin.options.js';
import type { AuditEntry } from '../audit.log.js';
import type { QueryReader } from './query.reader.js';

export type ApiMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** An authenticated and parsed API request. */
export interface ApiRequest {
  caller: AdminCaller;
  /** Path parameters of the route, decoded. */
  params: Record<string, string>;
  query: QueryReader;
  /** The object in the body; empty if the request has none. */
  body: Record<string, unknown>;
  request: IncomingMessage;
  response: ServerResponse;
  /** Records an action in the audit log. */
  audit: (entry: Pick<AuditEntry, 'action' | 'target' | 'details'>) => void;
}

/** A route of the API. */
export interface ApiRoute {
  method: ApiMethod;
  /** Path below `/relay/api`; a part that begins with a colon is a parameter. */
  path: string;
  /** Access that the caller needs; `'anyone'` for the routes that sign in and out. */
  access: AdminAccess | 'anyone';
  summary: string;
  /** Descriptions of the query fields, by name; without it, the query is ignored. */
  query?: Record<string, string>;
  /** Schema of the body. */
  schema?: Schema;
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
  method: Exclude<ApiMethod, 'GET'>,
  path: string,
  summary: string,
  handle: ApiRoute['handle'],
  schema?: Schema,
): ApiRoute {
  return { method, path, access: 'write', summary, handle, schema };
}
