import { type CanActivate, type Type } from '@nestjs/common';

/** Access of a caller of the admin routes: `'read'`, or `'write'` to read and change. */
export type AdminAccess = 'read' | 'write';

/** An authenticated caller of the admin routes. */
export interface AdminCaller {
  access: AdminAccess;
  /** How the caller signed in. */
  by: 'token' | 'session' | 'guard';
  /** Identity that the application's guard left on the request: `user`, or its `id`, `sub`, `email` or `username`. */
  user?: string;
}

/** Sign-in by token. */
export interface AdminTokenOptions {
  /**
   * Token that may read and change: visible ASCII characters without spaces. Default: required, unless `guard` is set.
   */
  token: string;
  /** Token that may only read. Default: none. */
  readToken?: string;
}

/** Sign-in by the application's own guard. */
export interface AdminGuardOptions {
  /**
   * Your application's own guard, as a class or an instance, instead of a token. Startup fails unless the guard refuses
   * an anonymous request within 5 s. Default: required, unless `token` is set.
   */
  guard: Type<CanActivate> | CanActivate;
  /**
   * Returns whether the caller of an admitted request may only read (`'read'`) or also change (`'write'`). `request` is
   * the request object of the HTTP platform. Any other value, or an error, refuses the request. Default: everything.
   */
  access?(request: unknown): AdminAccess | Promise<AdminAccess>;
}

/**
 * Authentication of the admin routes: a token, which clients send as `Authorization: Bearer <token>`, or the
 * application's own guard.
 */
export type AdminOptions = AdminTokenOptions | AdminGuardOptions;

/** Rule that {@link areAdminOptions} checks, worded for error messages. */
export const ADMIN_RULE =
  'be { token } or { token, readToken }, with different tokens of visible ASCII characters without spaces, ' +
  'or { guard } or { guard, access }, with a guard and a function';

/** Whether `Authorization: Bearer` can carry the value. */
function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

function isGuard(value: unknown): boolean {
  const owner: unknown = typeof value === 'function' ? value.prototype : value;
  return typeof (owner as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

/**
 * Whether the value is valid {@link AdminOptions}, without other properties. An explicit `access: undefined` is
 * refused, because it would let every caller change everything.
 */
export function areAdminOptions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Record<string, unknown>;
  const has = (...names: string[]) => Object.keys(given).every((name) => names.includes(name));
  if ('token' in given) {
    const isReader = given.readToken === undefined || (isToken(given.readToken) && given.readToken !== given.token);
    return has('token', 'readToken') && isToken(given.token) && isReader;
  }
  const isAccess = !('access' in given) || typeof given.access === 'function';
  return has('guard', 'access') && isGuard(given.guard) && isAccess;
}
