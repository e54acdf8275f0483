import { scopes } from './context-scope.js';

/** Runs code that records an event of a decorated method, in the scope that is open. */
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

/** The method, or else the route, in which an event is being recorded; undefined where neither is known. */
export function currentRecorder(): string | undefined {
  const scope = scopes.getStore();
  return scope?.method ?? (scope?.request && routeOf(scope.request as RoutedRequest));
}

/** The parts of an Express or Fastify request that tell its route. */
interface RoutedRequest {
  method?: unknown;
  /** Where a router of Express is mounted. */
  baseUrl?: string;
  /** That of Express. */
  route?: { path?: unknown };
  /** That of Fastify. */
  routeOptions?: { url?: unknown };
}

/** The route as the platform was given it, without what a request has in place of its parameters. */
function routeOf({ method, baseUrl = '', route, routeOptions }: RoutedRequest): string | undefined {
  const path = route?.path ?? routeOptions?.url;
  return typeof method === 'string' && typeof path === 'string' ? `${method} ${baseUrl}${path}` : undefined;
}
