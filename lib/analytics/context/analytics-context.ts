import type { ExtraContext } from '../../client/index.js';
import { takeObject } from '../../client/message/message-json.util.js';
import { addIds, type AmbientId, type AmbientIdentity, resolveIds, toMessageId } from './ambient-identity.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, currentScope, scopes } from './context-scope.js';
import { openScope } from './opened-scope.util.js';

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
 * request, until its response has been sent, and in every call of a decorated method; elsewhere, `run`,
 * `@AnalyticsScope()` or `AnalyticsContextInterceptor` opens one.
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
   * identify a different person, the ids of the surrounding scope no longer apply. An Observable or an async generator
   * that the function returns runs in the scope, too.
   *
   * @returns The function's return value.
   * @throws {ArgumentError} if an id is neither a string nor a number; the error names it.
   */
  run<T>(fields: AmbientFields, fn: () => T): T {
    const scope = currentScope() ?? {};
    return openScope({ ...scope, ...changedBy(fields, scope), isRun: true }, fn);
  },

  /**
   * Adds fields to the current scope; omitted fields, `undefined` and `null` change nothing. If `fields` identify a
   * different person, ids set earlier no longer apply.
   *
   * @returns Whether a scope is open; without one, the fields are discarded.
   * @throws {ArgumentError} if an id is neither a string nor a number; the error names it.
   */
  set(fields: AmbientFields): boolean {
    const scope = currentScope();
    const changes = changedBy(fields, scope ?? {});
    if (scope) Object.assign(scopes.getStore()!, changes); // `scope` may be a copy
    return scope !== undefined;
  },

  /** Returns the values set by `run` and `set`, and the request; undefined outside a scope. */
  get(): AmbientContext | undefined {
    const scope = currentScope();
    if (!scope) return undefined;
    const { named, origin, groupId, context } = scope;
    const { userId, anonymousId } = resolveIds(named);
    return { userId, anonymousId, groupId, context, request: origin?.request };
  },
};

/** Returns the changes that `fields` make to a scope. */
export function changedBy(fields: AmbientFields, scope: ContextScope): Partial<ContextScope> {
  const userId = toMessageId('userId', fields.userId);
  const anonymousId = toMessageId('anonymousId', fields.anonymousId);
  const groupId = toMessageId('groupId', fields.groupId) ?? scope.groupId;
  const context = fields.context ? { ...scope.context, ...takeObject('context', fields.context) } : scope.context;
  return { named: addIds({ userId, anonymousId }, scope.named), groupId, context };
}
