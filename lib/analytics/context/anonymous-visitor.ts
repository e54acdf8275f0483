import { randomUUID } from 'node:crypto';

import type { ScopeOrigin } from './context-scope.js';

/** Value of the cookie in which the browser SDK stores the `anonymousId` of a visitor. */
const COOKIE = /(?:^|;)\s*ajs_anonymous_id\s*=([^;]*)/;

/** Returns the `anonymousId` of a request's visitor: the browser SDK's, or a random one; the same on every call. */
export function anonymousIdOf(origin: ScopeOrigin): string {
  return (origin.anonymousId ??= anonymousIdOfCookie(origin.request.headers?.cookie) ?? randomUUID());
}

function anonymousIdOfCookie(cookies: string | string[] | undefined): string | undefined {
  const [, value] = (typeof cookies === 'string' && COOKIE.exec(cookies)) || [];
  return value === undefined ? undefined : decode(value.trim());
}

/** Decodes the id; undefined if the SDK cannot have written the value. */
function decode(value: string): string | undefined {
  try {
    let id: unknown = decodeURIComponent(value);
    // Earlier versions of the SDK wrote JSON: a string in quotes, or null.
    if (/^["[{]|^null$/.test(id as string)) id = JSON.parse(id as string);
    return typeof id === 'string' && /^\P{Cc}{1,256}$/u.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
