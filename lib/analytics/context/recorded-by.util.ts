import { currentScope, scopes } from './context-scope.js';

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
