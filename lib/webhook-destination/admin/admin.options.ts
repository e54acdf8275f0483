import { type CanActivate, type Type } from '@nestjs/common';

/**
 * Authentication of the administrative routes: a token of visible ASCII characters without spaces, which clients send as
 * `Authorization: Bearer <token>`, or a guard of the application's, as a class or an instance. The start fails unless the
 * guard refuses an anonymous request within 5 s.
 */
export type AdminOptions =
  | {
      token: string;
      /** Another token, which may look and change nothing. */
      readToken?: string | undefined;
    }
  | {
      guard: Type<CanActivate> | CanActivate;
      /** What a request that the guard admits may do. Default: `'write'`, which is everything. */
      access?: ((request: never) => AdminAccess) | undefined;
    };

/** Whether a caller may look, or also change. */
export type AdminAccess = 'read' | 'write';

/** Whether `Authorization: Bearer` can carry it. */
function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

function isGuard(value: unknown): boolean {
  const owner: unknown = typeof value === 'function' ? value.prototype : value;
  return typeof (owner as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

/** Whether the value is either of the two, and nothing else. */
export function areAdminOptions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { token, readToken, guard, access, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return false;
  if ('guard' in value) {
    const isAccess = access === undefined || typeof access === 'function';
    return isGuard(guard) && isAccess && !('token' in value || 'readToken' in value);
  }
  const isReadToken = readToken === undefined || (isToken(readToken) && readToken !== token);
  return isToken(token) && isReadToken && access === undefined;
}
