import type { ExtraContext } from '../../client/index.js';
import { addIds, type AmbientId, type AmbientIdentity, resolveIds, toMessageId } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, scopes } from './context-scope.js';

/** Fields for messages that do not have them. */
export interface AmbientFields extends AmbientIdentity {
  /** The group of `group` messages, and `context.groupId` of all others. */
  groupId?: AmbientId | null | undefined;
  /** Merged into the `context` of each message, whose own fields take precedence. */
  context?: ExtraContext | undefined;
}

/** Values set through `AnalyticsContext`; what the `identity` option adds is not among them. */
export interface AmbientContext {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  groupId?: string | undefined;
  context?: ExtraContext | undefined;
  /** The request, where there is one. */
  request?: AnalyticsRequest | undefined;
}

/**
 * The ambient identity and context: fields for messages that do not have them.
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
   * Runs a function, and all that it starts, in its own scope: the surrounding scope with these fields.
   * Ids of the surrounding scope no longer count where `fields` name somebody else.
   *
   * @returns What the function returns.
   * @throws {ArgumentError} naming an id that is neither a string nor a number.
   */
  run<T>(fields: AmbientFields, fn: () => T): T {
    return scopes.run(withFields(scopes.getStore() ?? {}, fields), fn);
  },

  /**
   * Adds fields to the current scope; omitted fields, `undefined` and `null` change nothing.
   * Ids that were set before no longer count where `fields` name somebody else.
   *
   * @returns Whether there is a scope; without one, nothing is kept.
   * @throws {ArgumentError} naming an id that is neither a string nor a number.
   */
  set(fields: AmbientFields): boolean {
    const scope = scopes.getStore();
    const changed = withFields(scope ?? {}, fields);
    if (scope) Object.assign(scope, changed);
    return scope !== undefined;
  },

  /** Values set by `run` and `set`, and the request; undefined outside a scope. */
  get(): AmbientContext | undefined {
    const scope = scopes.getStore();
    if (!scope) return undefined;
    const { named, request, groupId, context } = scope;
    const { userId, anonymousId } = resolveIds(named);
    return { userId, anonymousId, groupId, context, request };
  },
};

/** A copy of the scope with these fields. */
function withFields(scope: ContextScope, fields: AmbientFields): ContextScope {
  const userId = toMessageId('userId', fields.userId);
  const anonymousId = toMessageId('anonymousId', fields.anonymousId);
  const groupId = toMessageId('groupId', fields.groupId) ?? scope.groupId;
  const context = fields.context ? { ...scope.context, ...fields.context } : scope.context;
  return { ...scope, named: addIds({ userId, anonymousId }, scope.named), groupId, context };
}
