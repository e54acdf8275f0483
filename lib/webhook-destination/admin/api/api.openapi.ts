import type { RouteDescription } from '../../openapi.util.js';
import type { ApiRoute } from './api.route.js';

const ANSWERS: Record<number, string> = {
  200: 'Done',
  400: 'A field breaks a rule; the answer names both',
  401: 'The caller is not authenticated',
  403: 'The caller may not do this, or a page of another site sent the request',
  503: 'The queue is unavailable or full',
};

/** Returns the description of a route for the application's OpenAPI document. */
export function describeApi({ method, path, summary, query = {}, schema }: ApiRoute): RouteDescription {
  const words = path.replace(/:/g, 'by-').split(/[/-]/);
  const named = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return {
    summary,
    operationId: `relay_${method.toLowerCase()}${named}`,
    authorization: 'Bearer',
    schema: schema ?? (method === 'POST' || method === 'PATCH' ? { type: 'object' } : undefined),
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({ name, in: 'path' as const, description: name })),
      ...Object.entries(query).map(([name, description]) => ({ name, in: 'query' as const, description })),
    ],
    answers: ANSWERS,
  };
}
