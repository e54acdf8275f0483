import { AsyncLocalStorage } from 'node:async_hooks';

import type { ExtraContext } from '../../client/index.js';
import { processWide } from '../../common/process-wide.util.js';
import type { NamedIds } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';

/** The request that scopes belong to. A scope and the scopes within it share one. */
export interface ScopeOrigin {
  /** On Fastify, Node's own request until middleware has run. */
  request: AnalyticsRequest;
  /** Set for HTTP requests only. */
  readonly response?: { readonly closed?: boolean; readonly writableEnded?: boolean };
  /** The visitor who makes an HTTP request without a known user. */
  anonymousId?: string | undefined;
}

/** Ids and context of the events that are recorded in one request, job or call. */
export interface ContextScope {
  named?: NamedIds | undefined;
  readonly origin?: ScopeOrigin | undefined;
  /** The decorated method, while it records an event, or the handler of a gateway or microservice. */
  method?: string | undefined;
  groupId?: string | undefined;
  context?: ExtraContext | undefined;
  /** Whether `AnalyticsContext.run` opened the scope. Its fields then outlive the request. */
  readonly isRun?: boolean;
  /** Whether the code runs in the async context of an HTTP request that has ended. */
  readonly isAfterRequest?: boolean;
}

/** The scope of the running code, even if its request has ended. Read it through `currentScope`. */
export const scopes = processWide('context-scopes', () => new AsyncLocalStorage<ContextScope | undefined>());

/**
 * Returns the scope of the running code. The scope of an HTTP request ends with its response: code that is found in it
 * later may well belong to another request, called back by a pool or queue. A decorated call that began in time is
 * still recorded in it.
 */
export function currentScope(): ContextScope | undefined {
  const scope = scopes.getStore();
  if (!scope?.origin || scope.method || !hasEnded(scope.origin)) return scope;
  return scope.isRun ? { ...scope, origin: undefined, isAfterRequest: true } : undefined;
}

/** Returns the scope of the running code, or else a new one. */
export function scopeOfCall(): ContextScope {
  return currentScope() ?? { isAfterRequest: scopes.getStore() !== undefined };
}

/** An aborted request goes on until its handler answers. */
function hasEnded({ response }: ScopeOrigin): boolean {
  return response?.closed === true && response.writableEnded === true;
}

/** Runs a function in a scope, without opening it again if it is already open. */
export function runInScope<T>(scope: ContextScope | undefined, run: () => T): T {
  return scopes.getStore() === scope ? run() : scopes.run(scope, run);
}

/** Runs code that records an event of a decorated method; the open scope names the method meanwhile. */
export function recordAs(method: string, record: () => void): void {
  const scope = scopes.getStore();
  if (!scope) return record();
  const outer = scope.method;
  scope.method = method;
  try {
    record();
  } finally {
    scope.method = outer;
  }
}

/** Returns the method, or else the route, that is recording an event; undefined if neither is known. */
export function currentRecorder(): string | undefined {
  const scope = currentScope();
  return scope?.method ?? (scope?.origin && routeOf(scope.origin.request as RoutedRequest));
}

/** The parts of an Express or Fastify request that identify its route. */
interface RoutedRequest {
  method?: unknown;
  /** Path at which an Express router is mounted. */
  baseUrl?: string;
  /** The route on Express. */
  route?: { path?: unknown };
  /** The route on Fastify. */
  routeOptions?: { url?: unknown };
}

/** Returns the route as it was declared, with parameter names instead of the request's values. */
function routeOf({ method, baseUrl = '', route, routeOptions }: RoutedRequest): string | undefined {
  const path = route?.path ?? routeOptions?.url;
  return typeof method === 'string' && typeof path === 'string' ? `${method} ${baseUrl}${path}` : undefined;
}
