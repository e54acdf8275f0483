import { RequestError } from '../../ingest/request.error.js';
import type { ApiMethod, ApiRoute } from './api.route.js';

/** Finds the route of a path below the base. */
export class ApiRouter {
  private readonly routes: { route: ApiRoute; parts: string[] }[];

  constructor(readonly all: ApiRoute[]) {
    this.routes = all.map((route) => ({ route, parts: route.path.split('/') }));
  }

  /**
   * Returns the matching route, with its path parameters; without one, the refusal: 404 or 405, or 400 for a path with
   * invalid percent-encoding.
   */
  find(method = '', path: string): { route: ApiRoute; params: Record<string, string> } | RequestError {
    const given = decode(path.replace(/\/$/, ''));
    if (!given) return new RequestError(400, 'path_invalid', 'the path must be percent-encoded UTF-8', 'path');
    const matching = this.routes.filter(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index])),
    );
    if (matching.length === 0) return new RequestError(404, 'route_unknown', 'the API has no such route', 'path');
    const found = matching.find(({ route }) => route.method === (method as ApiMethod));
    if (!found) {
      const methods = matching.map(({ route }) => route.method).join(', ');
      return new RequestError(405, 'method_unknown', `this route has ${methods} only`, 'method');
    }
    const named = found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), given[index]!]] : []));
    return { route: found.route, params: Object.fromEntries(named) as Record<string, string> };
  }
}

/** Returns the decoded parts of a path; undefined if it is not percent-encoded UTF-8. */
function decode(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
