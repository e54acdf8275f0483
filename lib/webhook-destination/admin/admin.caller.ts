import type { AdminAccess } from './admin.options.js';

/** Who was let in. */
export interface AdminCaller {
  access: AdminAccess;
  /** How they signed in. */
  by: 'token' | 'session' | 'guard';
  /** Who they are, as far as the application's guard left it on the request (`user.id`, `sub`, `email`, `username`). */
  user?: string;
}

/** Who the request is from, by what guards usually leave on it. */
export function userOf(request: unknown): string | undefined {
  const user = (Object(request) as { user?: unknown }).user;
  const { id, sub, email, username } = Object(user) as Record<string, unknown>;
  const known = [user, id, sub, email, username].find(
    (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return known === undefined ? undefined : String(known);
}
