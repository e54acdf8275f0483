import { isDiscardedPromise } from '../../common/promise.util.js';
import { ArgumentError } from '../../common/relay.errors.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';

/** An id; a number goes over the wire as the string of its digits. */
export type AmbientId = string | number | bigint;

/** The ids that events are attributed to. */
export interface AmbientIdentity {
  userId?: AmbientId | null | undefined;
  anonymousId?: AmbientId | null | undefined;
}

/** Returns the ids that a request's events are attributed to; unknown ids are left out. */
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
 * @throws {ArgumentError} that names the field, for anything but a string or a number.
 */
export function toMessageId(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (isDiscardedPromise(value)) throw new ArgumentError(`${field} must not be a promise`);
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  throw new ArgumentError(`${field} must be a string or a number`);
}

/** Whether these ids name another person than the ids known before. */
function isSomebodyElse(ids: MessageIds, known: MessageIds): boolean {
  const differs = (own: string | undefined, other: string | undefined) => !!own && !!other && own !== other;
  return differs(ids.userId, known.userId) || differs(ids.anonymousId, known.anonymousId);
}

/**
 * Fills in the missing id from the ids known before. Ids of somebody else stay alone: an event with the ids of two
 * people would make them one to every receiver.
 */
function completeIds(ids: MessageIds, known: MessageIds = {}): MessageIds {
  const { userId, anonymousId } = ids;
  if (isSomebodyElse(ids, known)) return { userId, anonymousId };
  return { userId: userId || known.userId, anonymousId: anonymousId || known.anonymousId };
}

/**
 * The ids that steps named: calls of `run` and `set`, and the message. The request's identity comes before them all, but
 * only an event knows it. A scope may live as long as the process, so what is kept does not grow with the steps.
 */
export interface NamedIds {
  /** Each step completed by those before it. */
  readonly ids: MessageIds;
  /** The same from the first user on: where the identity has another one, the visitor named before is theirs. */
  readonly idsSinceUser: MessageIds | undefined;
  /** The first user and visitor, which the identity may be about. */
  readonly first: MessageIds;
  /** Whether the steps have named several people; the identity is about the first of them. */
  readonly isSealed: boolean;
}

/** Adds a step. */
export function addIds(step: MessageIds, named?: NamedIds): NamedIds | undefined {
  if (!step.userId && !step.anonymousId) return named;
  const isSealed = named ? named.isSealed || isSomebodyElse(step, named.ids) : false;
  const first = isSealed && named ? named.first : completeIds(step, named?.first);
  return {
    ids: completeIds(step, named?.ids),
    idsSinceUser: first.userId ? completeIds(step, named?.idsSinceUser) : undefined,
    first,
    isSealed,
  };
}

/** The ids of an event: those of the steps, completed by the request's identity where it is about the same person. */
export function resolveIds(named: NamedIds | undefined, identity: MessageIds = {}): MessageIds {
  if (!named) return identity;
  const { ids, idsSinceUser, first, isSealed } = named;
  if (idsSinceUser && isSomebodyElse({ userId: identity.userId }, first)) return idsSinceUser;
  return isSealed || isSomebodyElse(identity, first) ? ids : completeIds(ids, identity);
}
