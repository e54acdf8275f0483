import { isDiscardedPromise } from '../../common/promise.util.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';

/** An id as databases and tokens have it; a number goes over the wire as the string of its digits. */
export type AmbientId = string | number | bigint;

/** Who events are about. */
export interface AmbientIdentity {
  userId?: AmbientId | null | undefined;
  anonymousId?: AmbientId | null | undefined;
}

/** Tells from a request who its events are about; what it does not know, it leaves out. */
export type IdentityResolver = (request: AnalyticsRequest) => AmbientIdentity | null | undefined;

/** The ids of a message; an empty string counts as missing. */
export interface MessageIds {
  userId?: string | undefined;
  anonymousId?: string | undefined;
}

/** The user that a guard put on the request: its `id`, or the `sub` of its token. */
export function identityOfUser(request: AnalyticsRequest): AmbientIdentity {
  const user = request.user as { id?: AmbientId; sub?: AmbientId } | null | undefined;
  return { userId: user?.id ?? user?.sub };
}

/**
 * An id as messages have it, or undefined where there is none.
 * @throws {Error} that names the field, for anything but a string or a number.
 */
export function toMessageId(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (isDiscardedPromise(value)) throw new Error(`${field} must not be a promise`);
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  throw new Error(`${field} must be a string or a number`);
}

/**
 * The ids of an event, the open ones filled in. Where it names somebody else than the ambient ids do, they are not:
 * an event with the ids of two people would make them one to every receiver.
 */
export function completeIds({ userId, anonymousId }: MessageIds, ambient: MessageIds): MessageIds {
  const isOther = (own: string | undefined, given: string | undefined) => !!own && !!given && own !== given;
  if (isOther(userId, ambient.userId) || isOther(anonymousId, ambient.anonymousId)) return { userId, anonymousId };
  return { userId: userId || ambient.userId, anonymousId: anonymousId || ambient.anonymousId };
}
