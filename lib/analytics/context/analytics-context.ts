import type { ExtraContext } from '../../client/index.js';
import { takeObject } from '../../client/message/message-json.util.js';
import { addIds, type AmbientId, type AmbientIdentity, resolveIds, toMessageId } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, scopes } from './context-scope.js';

/** Fields added to messages that do not set them. */
export interface AmbientFields extends AmbientIdentity {
  /** The group of a `group` message; `context.groupId` of any other message. */
  groupId?: AmbientId | null | undefined;
  /** Merged into the `context` of each message; the message's own fields take precedence. */
  context?: ExtraContext | undefined;
}

/** Values set through `AnalyticsContext`, without the ids of the `identity` option. */
export interface AmbientContext {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  groupId?: string | undefined;
  context?: ExtraContext | undefined;
  /** The request, if any. */
  request?: AnalyticsRequest | undefined;
}

/**
 * The ambient identity and context: fields added to messages that do not set them. A scope is open in every HTTP
 * request and in every call of a decorated method; elsewhere, `run` opens one.
 *
 * @example
 * ```ts
 * // a worker
 * await AnalyticsContext.run({ userId: job.data.userId }, () => this.send(job));
 * ```
 */
export const AnalyticsContext = {
  /**
   * Runs a function, and everything it starts, in a new scope: the surrounding scope with these fields. If `fields`
   * identify a different person, the ids of the surrounding scope no longer apply.
   *
   * @returns The function's return value.
   * @throws {ArgumentError} if an id is neither a string nor a number; the error names it.
   */
  run<T>(fields: AmbientFields, fn: () => T): T {
    return scopes.run(withFields(scopes.getStore() ?? {}, fields), fn);
  },

  /**
   * Adds fields to the current scope; omitted fields, `undefined` and `null` change nothing. If `fields` identify a
   * different person, ids set earlier no longer apply.
   *
   * @returns Whether a scope is open; without one, the fields are discarded.
   * @throws {ArgumentError} if an id is neither a string nor a number; the error names it.
   */
  set(fields: AmbientFields): boolean {
    const scope = scopes.getStore();
    const changed = withFields(scope ?? {}, fields);
    if (scope) Object.assign(scope, changed);
    return scope !== undefined;
  },

  /** Returns the values set by `run` and `set`, and the request; undefined outside a scope. */
  get(): AmbientContext | undefined {
    const scope = scopes.getStore();
    if (!scope) return undefined;
    const { named, request, groupId, context } = scope;
    const { userId, anonymousId } = resolveIds(named);
    return { userId, anonymousId, groupId, context, request };
  },
};

function withFields(scope: ContextScope, fields: AmbientFields): ContextScope {
  const userId = toMessageId('userId', fields.userId);
  const anonymousId = toMessageId('anonymousId', fields.anonymousId);
  const groupId = toMessageId('groupId', fields.groupId) ?? scope.groupId;
  const context = fields.context ? { ...scope.context, ...takeObject('context', fields.context) } : scope.context;
  return { ...scope, named: addIds({ userId, anonymousId }, scope.named), groupId, context };
}
