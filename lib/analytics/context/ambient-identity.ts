import { isDiscardedPromise } from '../../common/promise.util.js';
import { ArgumentError } from '../../common/relay.errors.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';

/** An id. A number is sent as the string of its digits. */
export type AmbientId = string | number | bigint;

/** The ids that events are attributed to. */
export interface AmbientIdentity {
  userId?: AmbientId | null | undefined;
  anonymousId?: AmbientId | null | undefined;
}

/** Returns the ids that a request's events are attributed to, without unknown ids. */
export type IdentityResolver = (request: AnalyticsRequest) => AmbientIdentity | null | undefined;

/** The ids of a message; an empty string counts as missing. */
export interface MessageIds {
  userId?: string | undefined;
  anonymousId?: string | undefined;
}

/** Returns the user that a guard set on the request: its `id`, or the `sub` of its token. */
export function identityOfUser(request: AnalyticsRequest): AmbientIdentity {
  const user = request.user as { id?: AmbientId; sub?: AmbientId } | null | undefined;
  return { userId: user?.id ?? user?.sub };
}

/**
 * Converts an id to the form it has in messages; undefined if there is none.
 * @throws {ArgumentError} that names the field, if the value is neither a string nor a number.
 */
export function toMessageId(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (isDiscardedPromise(value)) throw new ArgumentError(`${field} must not be a promise`);
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  throw new ArgumentError(`${field} must be a string or a number`);
}

/** Whether these ids identify a different person from the known ids. */
function isSomebodyElse(ids: MessageIds, known: MessageIds): boolean {
  const differs = (own: string | undefined, other: string | undefined) => !!own && !!other && own !== other;
  return differs(ids.userId, known.userId) || differs(ids.anonymousId, known.anonymousId);
}

/**
 * Fills in the missing id from the known ids. Ids of a different person are not completed: receivers would merge two
 * people whose ids are in one event.
 */
function completeIds(ids: MessageIds, known: MessageIds = {}): MessageIds {
  const { userId, anonymousId } = ids;
  if (isSomebodyElse(ids, known)) return { userId, anonymousId };
  return { userId: userId || known.userId, anonymousId: anonymousId || known.anonymousId };
}

/**
 * Ids set in steps: calls of `run` and `set`, then the message. The request's identity precedes all steps, but is only
 * known when an event is recorded. A scope may live as long as the process, so this state does not grow with the steps.
 */
export interface NamedIds {
  /** The ids of the last step, completed by earlier steps. */
  readonly ids: MessageIds;
  /**
   * Like `ids`, but from the first user on. Used if the identity has a different user, who is then the visitor set
   * before.
   */
  readonly idsSinceUser: MessageIds | undefined;
  /** The first user and visitor, whom the identity may describe. */
  readonly first: MessageIds;
  /** Whether the steps have identified several people; the identity describes the first of them. */
  readonly isSealed: boolean;
}

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

/**
 * Returns the ids of an event: those of the steps, completed by the request's identity if both describe the same
 * person.
 */
export function resolveIds(named: NamedIds | undefined, identity: MessageIds = {}): MessageIds {
  if (!named) return identity;
  const { ids, idsSinceUser, first, isSealed } = named;
  if (idsSinceUser && isSomebodyElse({ userId: identity.userId }, first)) return idsSinceUser;
  return isSealed || isSomebodyElse(identity, first) ? ids : completeIds(ids, identity);
}
