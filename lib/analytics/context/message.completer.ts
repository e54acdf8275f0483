import type { ExtraContext, MessageType } from '../../client/index.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { addIds, type MessageIds, resolveIds, toMessageId } from './ambient-identity.js';
import type { CheckedAmbientOptions } from './ambient.options.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { anonymousIdOf } from './anonymous-visitor.js';
import { type ContextScope, runInScope, scopes } from './context-scope.js';
import { contextOf } from './request-context.util.js';

type Message = MessageIds & { groupId?: string | undefined; context?: ExtraContext | undefined };

/** Completes messages with the ambient identity and context; the fields of a message take precedence. */
export class MessageCompleter {
  private readonly log = new LimitedLogger('AnalyticsContext');

  constructor(private readonly options: CheckedAmbientOptions) {}

  complete(type: MessageType, message: unknown, record: (complete: unknown) => void): void {
    const scope = scopes.getStore();
    if (!scope || typeof message !== 'object' || message === null) return record(message);
    const complete = this.inScope(type, message, scope);
    // Sockets and timers of the delivery outlive the request, and must not keep it in memory.
    runInScope(undefined, () => record(complete));
  }

  private inScope(type: MessageType, message: Message, scope: ContextScope): Message {
    const complete = { ...message };
    const ids = this.idsFor(type, message, scope);
    complete.userId = ids.userId;
    if (type !== 'alias') complete.anonymousId = ids.anonymousId;

    const groupId = message.groupId ?? scope.groupId;
    if (type === 'group') complete.groupId = groupId;
    if (message.context == null || isPlainObject(message.context)) {
      const context = scope.request ? contextOf(scope.request, this.options.context) : {};
      if (groupId !== undefined && type !== 'group') context.groupId = groupId;
      complete.context = Object.assign(context, scope.context, message.context);
    }
    return complete;
  }

  private idsFor(type: MessageType, message: Message, { named, request, visitor }: ContextScope): MessageIds {
    if (message.userId && message.anonymousId) return message;
    const ids = resolveIds(addIds(message, named), request && this.idsOf(request));
    if (ids.userId || ids.anonymousId || type === 'alias' || !this.options.anonymous || !visitor || !request)
      return ids;
    return { anonymousId: anonymousIdOf(visitor, request) };
  }

  /** Returns the ids of the `identity` option, or none if it fails. */
  private idsOf(request: AnalyticsRequest): MessageIds {
    try {
      const identity = this.options.identity(request) ?? {};
      const { userId, anonymousId } = identity;
      if ([identity, userId, anonymousId].map(isDiscardedPromise).includes(true)) {
        throw new Error('it must not return a promise; look up ids in a guard or middleware');
      }
      return { userId: toMessageId('userId', userId), anonymousId: toMessageId('anonymousId', anonymousId) };
    } catch (error) {
      this.log.once(`The identity option failed: ${errorMessage(error)}`);
      return {};
    }
  }
}
