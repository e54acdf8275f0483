import { randomUUID } from 'node:crypto';

import { errorMessage } from '../../client/error.util.js';
import { type MessageType, ValidationError } from '../../client/index.js';
import type { Additions } from '../../client/message/message.factory.js';
import { takeObject, unreadable } from '../../client/message/message-json.util.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { addIds, type MessageIds, resolveIds, toMessageId } from './ambient-identity.js';
import type { CheckedAmbientOptions } from './ambient.options.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { type ContextScope, runInScope, scopeOfCall, type ScopeOrigin } from './context-scope.js';
import { contextOf } from './request-context.util.js';

type AmbientAdditions = Pick<Additions, 'facts' | 'context'>;
type Message = MessageIds & { groupId?: string | undefined; [field: string]: unknown };

/** Fields of messages. They are named, because copying an object leaves out the accessors of its class. */
const FIELDS = [
  ...['userId', 'anonymousId', 'groupId', 'messageId', 'timestamp', 'context', 'integrations', 'event', 'name'],
  ...['category', 'properties', 'traits', 'previousId'],
];

/** Value of the cookie in which the browser SDK stores the `anonymousId` of a visitor. */
const COOKIE = /(?:^|;)\s*ajs_anonymous_id\s*=([^;]*)/;

/** Completes messages with the ambient identity and context; the fields of a message take precedence. */
export class MessageCompleter {
  private readonly log = new LimitedLogger('AnalyticsContext');

  constructor(private readonly options: CheckedAmbientOptions) {}

  /**
   * Calls `record` outside the scope, with the completed message and what is added to its context.
   *
   * @throws {ValidationError} if `groupId` is not a string, or a field cannot be read.
   */
  complete(type: MessageType, given: unknown, record: (complete: unknown, ambient?: AmbientAdditions) => void): void {
    if (!isPlainObject(given)) return record(given); // which the message's own rules refuse
    const message = readMessage(given);
    const scope = scopeOfCall();
    const groupId = groupIdOf(message) || scope.groupId;
    const complete = this.withIds(type, message, scope);
    if (type === 'group') complete.groupId = groupId;
    const ambient = this.ambientContext(scope, type === 'group' ? undefined : groupId);
    // Sockets and timers of the delivery outlive the request, and must not keep it in memory.
    runInScope(undefined, () => record(complete, ambient));
  }

  private withIds(type: MessageType, message: Message, scope: ContextScope): Message {
    const { userId, anonymousId } = this.idsFor(type, message, scope);
    return { ...message, userId, anonymousId: type === 'alias' ? message.anonymousId : anonymousId };
  }

  private ambientContext({ origin, context }: ContextScope, groupId: string | undefined): AmbientAdditions {
    const facts = origin && contextOf(origin.request, this.options.context);
    return { facts, context: groupId ? { groupId, ...context } : context };
  }

  private idsFor(type: MessageType, message: Message, { named, origin }: ContextScope): MessageIds {
    if (message.userId && message.anonymousId) return message;
    const ids = resolveIds(addIds(message, named), origin && this.idsOf(origin.request));
    if (ids.userId || ids.anonymousId || type === 'alias' || !this.options.anonymous || !origin?.response) return ids;
    return { anonymousId: anonymousIdOf(origin) };
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

/**
 * Copies the fields of a message.
 *
 * @throws {ValidationError} that names the field which cannot be read.
 */
export function readMessage(given: unknown): Message {
  try {
    const message: Message = {};
    const taken = takeObject('message', given);
    for (const field of FIELDS) message[field] = taken[field];
    return message;
  } catch (error) {
    throw unreadable(given as object, error);
  }
}

function groupIdOf({ groupId }: Record<string, unknown>): string | null | undefined {
  if (groupId == null || typeof groupId === 'string') return groupId;
  throw new ValidationError({ field: 'groupId', code: 'group_id_not_string', message: 'groupId must be a string' });
}

/** Whether a message was refused because neither it nor the ambient identity names a user. */
export function isAboutNobody(type: MessageType, message: unknown, error: unknown): boolean {
  const { code } = (error ?? {}) as Partial<ValidationError>;
  if (code === 'no_user_anon_id') return true;
  return type === 'alias' && code === 'user_id_not_string' && !(message as Message).userId;
}

/** Returns the `anonymousId` of a request's visitor: the browser SDK's, or a random one; the same on every call. */
function anonymousIdOf(origin: ScopeOrigin): string {
  return (origin.anonymousId ??= anonymousIdOfCookie(origin.request.headers?.cookie) ?? randomUUID());
}

function anonymousIdOfCookie(cookies: string | string[] | undefined): string | undefined {
  const [, value] = (typeof cookies === 'string' && COOKIE.exec(cookies)) || [];
  return value === undefined ? undefined : decode(value.trim());
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
