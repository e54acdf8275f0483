import type { AdminAccess } from './admin.options.js';

/** An authenticated caller of the admin routes. */
export interface AdminCaller {
  access: AdminAccess;
  /** How the caller signed in. */
  by: 'token' | 'session' | 'guard';
  /** Identity that the application's guard left on the request: `user`, or its `id`, `sub`, `email` or `username`. */
  user?: string;
}

/** Returns the user of a request, from the properties that guards usually set on it. */
export function userOf(request: unknown): string | undefined {
  const user = (Object(request) as { user?: unknown }).user;
  const { id, sub, email, username } = Object(user) as Record<string, unknown>;
  const known = [user, id, sub, email, username].find(
    (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return known === undefined ? undefined : String(known);
}
