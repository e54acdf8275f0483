import {
  type AliasParams,
  Analytics,
  type AnalyticsSettings,
  type Callback,
  type ExtraContext,
  type GroupParams,
  type IdentifyParams,
  type MessageType,
  type PageParams,
  type ScreenParams,
  type TrackParams,
} from '../../client/index.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { addIds, type IdentityResolver, type MessageIds, resolveIds, toMessageId } from './ambient-identity.js';
import type { CheckedAmbientOptions } from './ambient.options.js';
import type { AnalyticsRequest } from './analytics-request.interface.js';
import { anonymousIdOf } from './anonymous-visitor.js';
import type { ContextOptions } from './context.options.js';
import { type ContextScope, runInScope, scopes } from './context.scope.js';
import { contextOf } from './request.context.js';

/** A message whose ids may come from the ambient context. */
export type Ambient<Params> = Omit<Params, 'userId' | 'anonymousId' | 'groupId'> & {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  /** The group of `group` messages, and `context.groupId` of all others. */
  groupId?: string | undefined;
};

type AmbientMessage = MessageIds & { groupId?: string | undefined; context?: ExtraContext | undefined };

/** How an instance fills in what its messages do not have themselves. */
export interface AmbientOptions {
  /**
   * Who a request's events are attributed to. Called when an event is recorded, after guards have run.
   *
   * @default `request.user?.id ?? request.user?.sub` as `userId`
   */
  identity?: IdentityResolver | undefined;
  /**
   * Which facts of a request go into the `context` of its events; `false`: none, `true`: all.
   *
   * @default true
   */
  context?: boolean | Partial<ContextOptions> | undefined;
  /**
   * Whether an event that is recorded in an HTTP request where nobody is known gets an `anonymousId`: the one in the
   * cookie `ajs_anonymous_id` of the browser SDK, or a random one, the same for all events of the request.
   * `false`: recording it throws a `ValidationError`, as it does outside a request.
   *
   * @default true
   */
  anonymous?: boolean | undefined;
}

/** `Analytics` that fills in the ambient identity and context; what a message has itself wins. */
export abstract class AmbientAnalytics extends Analytics {
  private readonly faults = new LimitedLogger('AnalyticsContext');
  private readonly identity: IdentityResolver;
  private readonly contextOptions: ContextOptions;
  private readonly anonymous: boolean;

  constructor(settings: AnalyticsSettings, { identity, anonymous, context }: CheckedAmbientOptions) {
    super(settings);
    this.identity = identity;
    this.anonymous = anonymous;
    this.contextOptions = context;
  }

  override identify(message: Ambient<IdentifyParams>, callback?: Callback): void {
    this.inAmbience('identify', message, (complete) => super.identify(complete as IdentifyParams, callback));
  }

  override track(message: Ambient<TrackParams>, callback?: Callback): void {
    this.inAmbience('track', message, (complete) => super.track(complete as TrackParams, callback));
  }

  override page(message: Ambient<PageParams>, callback?: Callback): void {
    this.inAmbience('page', message, (complete) => super.page(complete as PageParams, callback));
  }

  override screen(message: Ambient<ScreenParams>, callback?: Callback): void {
    this.inAmbience('screen', message, (complete) => super.screen(complete as ScreenParams, callback));
  }

  override group(message: Ambient<GroupParams>, callback?: Callback): void {
    this.inAmbience('group', message, (complete) => super.group(complete as GroupParams, callback));
  }

  override alias(message: Ambient<AliasParams>, callback?: Callback): void {
    this.inAmbience('alias', message, (complete) => super.alias(complete as AliasParams, callback));
  }

  private inAmbience(type: MessageType, message: AmbientMessage, record: (complete: object) => void): void {
    const scope = scopes.getStore();
    if (!scope || typeof message !== 'object' || message === null) return record(message);
    const complete = this.complete(type, message, scope);
    // Sockets and timers of the delivery outlive the request, and must not keep it in memory.
    runInScope(undefined, () => record(complete));
  }

  private complete(type: MessageType, message: AmbientMessage, scope: ContextScope): AmbientMessage {
    const complete = { ...message };
    const ids = this.idsFor(type, message, scope);
    complete.userId = ids.userId;
    if (type !== 'alias') complete.anonymousId = ids.anonymousId;

    const groupId = message.groupId ?? scope.groupId;
    if (type === 'group') complete.groupId = groupId;
    if (message.context == null || isPlainObject(message.context)) {
      const context = scope.request ? contextOf(scope.request, this.contextOptions) : {};
      if (groupId !== undefined && type !== 'group') context.groupId = groupId;
      complete.context = Object.assign(context, scope.context, message.context);
    }
    return complete;
  }

  private idsFor(type: MessageType, message: AmbientMessage, { named, request, visitor }: ContextScope): MessageIds {
    if (message.userId && message.anonymousId) return message;
    const ids = resolveIds(addIds(message, named), request && this.idsOf(request));
    if (ids.userId || ids.anonymousId || type === 'alias' || !this.anonymous || !visitor || !request) return ids;
    return { anonymousId: anonymousIdOf(visitor, request) };
  }

  /** What the `identity` option tells; its faults cost the event nothing but the ids. */
  private idsOf(request: AnalyticsRequest): MessageIds {
    try {
      const identity = this.identity(request) ?? {};
      const { userId, anonymousId } = identity;
      if ([identity, userId, anonymousId].map(isDiscardedPromise).includes(true)) {
        throw new Error('it must not return a promise; look up ids in a guard or middleware');
      }
      return { userId: toMessageId('userId', userId), anonymousId: toMessageId('anonymousId', anonymousId) };
    } catch (error) {
      this.faults.once(`The identity option failed: ${errorMessage(error)}`);
      return {};
    }
  }
}
