import { randomUUID } from 'node:crypto';

import type { AnalyticsRequest } from './analytics-request.interface.js';

/** Cookie in which the browser SDK stores the `anonymousId` of a visitor. */
const COOKIE = 'ajs_anonymous_id';

/** Visitor who makes an HTTP request without a known user. All scopes within the request share it. */
export interface AnonymousVisitor {
  anonymousId?: string | undefined;
}

/** Returns the visitor's `anonymousId`: the browser SDK's, or a random one; the same on every call. */
export function anonymousIdOf(visitor: AnonymousVisitor, { headers }: AnalyticsRequest): string {
  return (visitor.anonymousId ??= anonymousIdOfCookie(headers?.cookie) ?? randomUUID());
}

function anonymousIdOfCookie(cookies: string | string[] | undefined): string | undefined {
  if (typeof cookies !== 'string') return undefined;
  for (const cookie of cookies.split(';')) {
    const end = cookie.indexOf('=');
    if (end > 0 && cookie.slice(0, end).trim() === COOKIE) return decode(cookie.slice(end + 1).trim());
  }
  return undefined;
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
