import { AsyncLocalStorage } from 'node:async_hooks';

import type { ExtraContext } from '../../client/index.js';
import { processWide } from '../../common/process-wide.util.js';
import type { NamedIds } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import type { AnonymousVisitor } from './anonymous-visitor.js';

/** Ids and context of the events that are recorded in one request, job or call. */
export interface ContextScope {
  named?: NamedIds | undefined;
  /** On Fastify, Node's own request until middleware has run. */
  request?: AnalyticsRequest | undefined;
  /** The decorated method, while it records an event, or the handler of a gateway or microservice. */
  method?: string | undefined;
  /** Set in the scope of an HTTP request and in the scopes within it. */
  readonly visitor?: AnonymousVisitor | undefined;
  groupId?: string | undefined;
  context?: ExtraContext | undefined;
}

/** The scope of the running code. */
export const scopes = processWide('context-scopes', () => new AsyncLocalStorage<ContextScope | undefined>());

/** Runs a function in a scope, without opening it again if it is already open. */
export function runInScope<T>(scope: ContextScope | undefined, run: () => T): T {
  return scopes.getStore() === scope ? run() : scopes.run(scope, run);
}
