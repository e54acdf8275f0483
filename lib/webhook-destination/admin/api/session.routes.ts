import { RequestError } from '../../http/request.error.js';
import { SESSION_TIME } from '../../queue/registry-store.interface.js';
import type { AdminGate } from '../admin.gate.js';
import { toSetCookie } from '../session.cookie.js';
import { type ApiRequest, type ApiRoute, readRoute } from './api.route.js';

/** A path that a cookie may have (RFC 6265) and that ends in `/relay`. */
const BASE_PATH = /^\/(?:[\w.~%!$&'()*+,=:@-]+\/)*relay$/;

/** Options of the module that the dashboard shows. */
export interface SessionOptions {
  /** Value of the option `search.fields`. */
  searchFields: readonly string[];
  /** Whether entries can be created: `registry` is `'store'`. */
  hasStoredRegistry: boolean;
}

/**
 * Routes for sign-in and sign-out of browsers.
 *
 * @param options what the dashboard needs to know of the module's options
 */
export function sessionRoutes(gate: AdminGate, options: SessionOptions): ApiRoute[] {
  return [
    {
      method: 'POST',
      path: 'session',
      access: 'anyone',
      summary: 'Sign in with a token; sets the cookie of a session',
      schema: {
        type: 'object',
        required: ['token'],
        properties: {
          token: { type: 'string' },
          base: {
            type: 'string',
            description: 'path of /relay as the browser sees it, behind a proxy that rewrites it',
          },
        },
      },
      handle: async ({ body, request, response }) => {
        const { token } = body;
        const path = basePath({ body, request });
        if (typeof token !== 'string' || token === '') {
          throw new RequestError('token_not_string', 'token must be a non-empty string', 'token');
        }
        const { id, ...holder } = await gate.signIn(request, token);
        response.setHeader('Set-Cookie', toSetCookie(request, path, id));
        return { ...holder, ...options, expiresAt: Date.now() + SESSION_TIME };
      },
    },
    readRoute('session', 'What the caller may do', ({ caller }) => ({
      ...caller,
      signIn: gate.hasTokens ? 'token' : 'guard',
      ...options,
    })),
    {
      method: 'DELETE',
      path: 'session',
      access: 'anyone',
      summary: 'Sign out; ends the session',
      handle: async ({ body, request, response }) => {
        const path = basePath({ body, request });
        await gate.signOut(request);
        response.setHeader('Set-Cookie', toSetCookie(request, path));
        return { signedOut: true };
      },
    },
  ];
}

/** Returns the base path as the browser sees it: from the body, otherwise from the request's path. */
function basePath({ body, request }: Pick<ApiRequest, 'body' | 'request'>): string {
  const { originalUrl, url = '' } = request as typeof request & { originalUrl?: string };
  const { base = (originalUrl ?? url).replace(/\/api\/session\/?(\?.*)?$/s, '') } = body;
  if (typeof base === 'string' && base.length <= 1_000 && BASE_PATH.test(base)) return base;
  throw new RequestError('base_invalid', 'base must be a path that ends in /relay', 'base');
}
