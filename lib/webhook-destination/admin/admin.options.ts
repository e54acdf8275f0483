import { type CanActivate, type Type } from '@nestjs/common';

import { isName } from '../entry.rules.js';

/** Access of a caller of the admin routes: `'read'`, or `'write'` to read and change. */
export type AdminAccess = 'read' | 'write';

/** An authenticated caller of the admin routes. */
export interface AdminCaller {
  access: AdminAccess;
  /** How the caller signed in. */
  by: 'token' | 'session' | 'guard';
  /**
   * Name of the caller's token, or the identity that the application's guard left on the request: `user`, or its `id`,
   * `sub`, `email` or `username`.
   */
  user?: string | undefined;
}

/** Options of the admin routes, however callers are authenticated. */
export interface AdminMcpOptions {
  /**
   * Whether `POST /relay/api/mcp` serves the operator's questions as tools to AI assistants, by the Model Context
   * Protocol. Needs the package `@modelcontextprotocol/sdk`.
   * @default false
   */
  mcp?: boolean;
}

/** Sessions of browsers that signed in with a token. */
export interface AdminSessionOptions extends AdminMcpOptions {
  /**
   * How long a session lasts without a request, in ms: 60,000 or more. A live stream alone does not keep it.
   * @default 1_800_000
   */
  idleTimeout?: number;
}

/** Sign-in by token. */
export interface AdminTokenOptions extends AdminSessionOptions {
  /**
   * Token that may read and change: visible ASCII characters without spaces, 24 or more (a shorter one is a warning, and
   * with `NODE_ENV=production` an error). Default: required, unless `tokens` or `guard` is set.
   */
  token: string;
  /** Token that may only read. Default: none. */
  readToken?: string;
}

/** A token with a name. */
export interface AdminNamedToken {
  /** The person or program that has the token, for the audit log. */
  name: string;
  /** Visible ASCII characters without spaces, 24 or more. */
  token: string;
  access: AdminAccess;
}

/** Sign-in by one of several tokens. */
export interface AdminNamedTokensOptions extends AdminSessionOptions {
  /**
   * Tokens with names, each `{ name, token, access }`, instead of `token` and `readToken`. The audit log has the name as
   * `user`. Default: required, unless `token` or `guard` is set.
   */
  tokens: AdminNamedToken[];
}

export type AdminTokensOptions = AdminTokenOptions | AdminNamedTokensOptions;

/** Sign-in by the application's own guard. */
export interface AdminGuardOptions extends AdminMcpOptions {
  /**
   * Your application's own guard, as a class or an instance, instead of a token. Startup fails unless the guard refuses
   * anonymous requests within 5 s. Default: required, unless `token` or `tokens` is set.
   */
  guard: Type<CanActivate> | CanActivate;
  /**
   * Returns whether the caller of an admitted request may only read (`'read'`) or also change (`'write'`). `request` is
   * the request object of the HTTP platform. Any other value, or an error, refuses the request. Default: everything, if
   * the request has a `user`.
   */
  access?(request: unknown): AdminAccess | Promise<AdminAccess>;
}

/**
 * Authentication of the admin routes: tokens, which clients send as `Authorization: Bearer <token>`, or the
 * application's own guard.
 */
export type AdminOptions = AdminTokensOptions | AdminGuardOptions;

/** Minimum of `idleTimeout`, in ms. */
const MIN_IDLE_TIMEOUT = 60_000;

/** Rule that {@link areAdminOptions} checks, worded for error messages. */
export const ADMIN_RULE =
  'be { token } or { token, readToken }, with different tokens of visible ASCII characters without spaces, ' +
  "or { tokens }, with a list of { name, token, access }, different names and tokens, and access 'read' or 'write', " +
  'both with an optional idleTimeout of 60,000 ms or more, ' +
  'or { guard } or { guard, access }, with a guard and a function; each with an optional mcp of true or false';

/** Whether `Authorization: Bearer` can carry the value. */
function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

function isNamedToken(value: unknown): value is AdminNamedToken {
  if (typeof value !== 'object' || value === null) return false;
  const { name, token, access, ...others } = value as Record<string, unknown>;
  const isAccess = access === 'read' || access === 'write';
  return isName(name) && isToken(token) && isAccess && Object.keys(others).length === 0;
}

function areNamedTokens(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isNamedToken)) return false;
  return (['name', 'token'] as const).every((field) => new Set(value.map((one) => one[field])).size === value.length);
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
  const { mcp = false, ...given } = value as Record<string, unknown>;
  if (typeof mcp !== 'boolean') return false;
  const has = (...names: string[]) => Object.keys(given).every((name) => names.includes(name));
  if ('token' in given || 'tokens' in given) {
    const { token, readToken, tokens, idleTimeout = MIN_IDLE_TIMEOUT } = given;
    if (!Number.isSafeInteger(idleTimeout) || (idleTimeout as number) < MIN_IDLE_TIMEOUT) return false;
    if ('tokens' in given) return has('tokens', 'idleTimeout') && areNamedTokens(tokens);
    const isReader = readToken === undefined || (isToken(readToken) && readToken !== token);
    return has('token', 'readToken', 'idleTimeout') && isToken(token) && isReader;
  }
  const isAccess = !('access' in given) || typeof given.access === 'function';
  return has('guard', 'access') && isGuard(given.guard) && isAccess;
}
