import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Schema } from '../../../common/openapi.util.js';
import type { AdminCaller } from '../admin.caller.js';
import type { AdminAccess } from '../admin.options.js';
import type { AuditEntry } from '../audit.log.js';

export type ApiMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A request to the API, let in and read. */
export interface ApiRequest {
  caller: AdminCaller;
  /** Parts of the path that the route names, decoded. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The object in the body; empty if the request has none. */
  body: Record<string, unknown>;
  request: IncomingMessage;
  response: ServerResponse;
  /** Records what was done. */
  audit: (entry: Pick<AuditEntry, 'action' | 'target' | 'details'>) => void;
}

/** A route of the API. */
export interface ApiRoute {
  method: ApiMethod;
  /** Below `/relay/api`; a part that begins with a colon is a parameter. */
  path: string;
  /** Who may ask; `'anyone'` for those that sign in. */
  access: AdminAccess | 'anyone';
  summary: string;
  /** Names of query fields, each with its description. */
  query?: Record<string, string>;
  /** Of the body. */
  schema?: Schema;
  /** Resolves with the answer's body; with undefined where it has answered by itself. */
  handle: (request: ApiRequest) => Promise<object | undefined>;
}

/** A route that changes nothing. */
export function readRoute(
  path: string,
  summary: string,
  handle: ApiRoute['handle'],
  query?: ApiRoute['query'],
): ApiRoute {
  return { method: 'GET', path, access: 'read', summary, handle, query };
}

/** A route that changes something. */
export function changeRoute(
  method: Exclude<ApiMethod, 'GET'>,
  path: string,
  summary: string,
  handle: ApiRoute['handle'],
  schema?: Schema,
): ApiRoute {
  return { method, path, access: 'write', summary, handle, schema };
}
