import { RequestError } from '../../ingest/request.error.js';
import type { ApiMethod, ApiRoute } from './api.route.js';

/** A matching route, with its path parameters. */
export interface FoundRoute {
  route: ApiRoute;
  params: Record<string, string>;
}

/** Finds the route of a path below the base. */
export class ApiRouter {
  private readonly routes: { route: ApiRoute; parts: string[] }[];

  constructor(readonly all: ApiRoute[]) {
    this.routes = all.map((route) => ({ route, parts: route.path.split('/') }));
  }

  /** @throws {RequestError} 404 or 405; 400 for a path with invalid percent-encoding */
  find(method: string, path: string): FoundRoute {
    const given = path.replace(/\/$/, '').split('/').map(decode);
    const matching = this.routes.filter(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index])),
    );
    if (matching.length === 0) throw new RequestError(404, 'route_unknown', 'the API has no such route', 'path');
    const found = matching.find(({ route }) => route.method === (method as ApiMethod));
    if (!found) {
      const methods = matching.map(({ route }) => route.method).join(', ');
      throw new RequestError(405, 'method_unknown', `this route has ${methods} only`, 'method');
    }
    const named = found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), given[index]!]] : []));
    return { route: found.route, params: Object.fromEntries(named) as Record<string, string> };
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RequestError(400, 'path_invalid', 'the path must be percent-encoded UTF-8', 'path');
  }
}
