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

/** Whether these ids name another person than the ids known before. */
function isSomebodyElse(ids: MessageIds, known: MessageIds): boolean {
  const differs = (own: string | undefined, other: string | undefined) => !!own && !!other && own !== other;
  return differs(ids.userId, known.userId) || differs(ids.anonymousId, known.anonymousId);
}

/**
 * Fills in the missing id from the ids known before. Ids of somebody else stay alone: an event with the ids of two
 * people would make them one to every receiver.
 */
export function completeIds(ids: MessageIds, known: MessageIds): MessageIds {
  const { userId, anonymousId } = ids;
  if (isSomebodyElse(ids, known)) return { userId, anonymousId };
  return { userId: userId || known.userId, anonymousId: anonymousId || known.anonymousId };
}

/** The ids that `run` and `set` named, kept as they came: only an event knows the request's identity, which comes first. */
export interface NamedIds {
  /** In the order of the calls. */
  readonly steps: readonly MessageIds[];
  /** Whether the steps are about somebody else than the request's identity, which then no longer counts. */
  readonly isSealed: boolean;
}

const NOBODY: NamedIds = { steps: [], isSealed: false };

/** A scope may live as long as the process: so many steps are enough to tell one person's ids from another's. */
const MAX_STEPS = 8;

/** Adds a step. */
export function addIds(ids: MessageIds, named: NamedIds = NOBODY): NamedIds {
  const { steps, isSealed } = named;
  if (!ids.userId && !ids.anonymousId) return named;
  const last = steps[steps.length - 1] ?? {};
  if (!isSealed && !isSomebodyElse(ids, last) && steps.length < MAX_STEPS) return { steps: [...steps, ids], isSealed };
  return { steps: [completeIds(ids, resolveIds(named))], isSealed: true };
}

/** The ids of a scope: the first step is completed by the request's identity, each other one by those before it. */
export function resolveIds({ steps, isSealed }: NamedIds = NOBODY, identity: MessageIds = {}): MessageIds {
  return steps.reduce((known, ids) => completeIds(ids, known), isSealed ? {} : identity);
}
