import { type CanActivate, type Type } from '@nestjs/common';

/**
 * Authentication of the administrative routes: a token of visible ASCII characters without spaces, which clients send as
 * `Authorization: Bearer <token>`, or a guard of the application's, as a class or an instance. The start fails unless the
 * guard refuses an anonymous request within 5 s.
 */
export type AdminOptions = { token: string } | { guard: Type<CanActivate> | CanActivate };

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
  const [[name, given] = [], ...others] = Object.entries(value) as [string, unknown][];
  if (others.length > 0) return false;
  return (name === 'token' && isToken(given)) || (name === 'guard' && isGuard(given));
}
