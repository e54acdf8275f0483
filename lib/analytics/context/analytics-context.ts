import type { ExtraContext } from '../../client/index.js';
import { type AmbientId, type AmbientIdentity, completeIds, toMessageId } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, scopes } from './context.scope.js';

/** What events get that do not have it themselves. */
export interface AmbientFields extends AmbientIdentity {
  /** The group of `group` messages, and `context.groupId` of all others. */
  groupId?: AmbientId | null | undefined;
  /** Joined with the `context` of each message; a field that the message has itself stays. */
  context?: ExtraContext | undefined;
}

/** What the code that runs has been told; what the `identity` option adds is not in it. */
export interface AmbientContext {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  groupId?: string | undefined;
  context?: ExtraContext | undefined;
  /** The request, where there is one. */
  request?: AnalyticsRequest | undefined;
}

/**
 * What events get that do not have it themselves: who they are about, and their `context`.
 * A scope is open in every HTTP request and in every call of a decorated method; elsewhere, `run` opens one.
 *
 * @example
 * ```ts
 * // a worker
 * await AnalyticsContext.run({ userId: job.data.userId }, () => this.send(job));
 * ```
 */
export const AnalyticsContext = {
  /**
   * Runs a function, and all that it starts, in a scope of its own: the surrounding scope with these fields.
   * Ids of the surrounding scope count no longer where `fields` name somebody else.
   *
   * @returns What the function returns.
   * @throws {Error} when an id is neither a string nor a number; the error names it.
   */
  run<T>(fields: AmbientFields, fn: () => T): T {
    const outer = scopes.getStore();
    const given = toScope(fields);
    return scopes.run(
      {
        ...outer,
        ...given,
        ...completeIds(given, outer ?? {}),
        ...(given.context && { context: { ...outer?.context, ...given.context } }),
      },
      fn,
    );
  },

  /**
   * Adds fields to the scope of the code that runs, for all of it from now on; what is left out (or `undefined`, or `null`) stays.
   *
   * @returns Whether there is a scope; without one, nothing is kept.
   * @throws {Error} when an id is neither a string nor a number; the error names it.
   */
  set(fields: AmbientFields): boolean {
    const scope = scopes.getStore();
    const given = toScope(fields);
    if (!scope) return false;
    Object.assign(scope, given, given.context && { context: { ...scope.context, ...given.context } });
    return true;
  },

  /** What the code that runs has been told by `run` and `set`, and its request; undefined outside of a scope. */
  get(): AmbientContext | undefined {
    const scope = scopes.getStore();
    return scope && { ...scope };
  },
};

function toScope(fields: AmbientFields): Omit<ContextScope, 'request'> {
  const scope: Omit<ContextScope, 'request'> = {};
  for (const id of ['userId', 'anonymousId', 'groupId'] as const) {
    const given = toMessageId(id, fields[id]);
    if (given !== undefined) scope[id] = given;
  }
  if (fields.context) scope.context = fields.context;
  return scope;
}
