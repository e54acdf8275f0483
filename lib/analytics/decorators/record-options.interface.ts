import type { Observable } from 'rxjs';

import type {
  EventProperties,
  ExtraContext,
  GroupTraits,
  IntegrationsOptions,
  Timestamp,
  UserTraits,
} from '../../client/index.js';
import type { AmbientId } from '../context/ambient-identity.js';
import type { AnalyticsRequest } from '../context/analytics-request.interface.js';

/** The type of a decorated method; the default leaves its arguments and result untyped. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any method can be decorated
export type AnyMethod = (...args: any[]) => any;

/** What a method's promise resolves to, what its Observable or async iterable emits, or what it returns. */
export type Result<M extends AnyMethod> =
  ReturnType<M> extends Observable<infer Value>
    ? Value
    : ReturnType<M> extends AsyncIterable<infer Value>
      ? Value
      : Awaited<ReturnType<M>>;

/** The end of a call of a decorated method, as mappers see it. */
export interface CallContext<M extends AnyMethod = AnyMethod> {
  /** The arguments of the call. */
  args: Parameters<M>;
  /**
   * What the method returned, its promise resolved to, or its Observable or async iterable emitted last;
   * undefined when it failed.
   */
  result: Result<M>;
  /** What it threw or rejected with. */
  error?: unknown;
  /** The HTTP request that the call was made in, where there is one. */
  request?: AnalyticsRequest | undefined;
  /** The instance it was called on. */
  target: object;
}

/**
 * A value that is neither a promise nor a function. Objects with any field, such as `EventProperties`, would take both,
 * and so an asynchronous mapper.
 */
export type Plain<T> = T extends object
  ? T & { readonly [Symbol.toStringTag]?: never; readonly [Symbol.hasInstance]?: never }
  : T;

/** A field of the message: its value, or how it is told from the call. Mappers are synchronous. */
export type Mapped<T, M extends AnyMethod = AnyMethod> = Plain<T> | ((call: CallContext<M>) => Plain<T>);

/** An id: a number or bigint is recorded as the string of its digits; without a value, the ambient id counts. */
export type MappedId<M extends AnyMethod = AnyMethod> = Mapped<AmbientId | null | undefined, M>;

/** Options of every decorator that records an event. Ids and context that they leave open come from the ambient context. */
export interface RecordOptions<M extends AnyMethod = AnyMethod> {
  userId?: MappedId<M>;
  anonymousId?: MappedId<M>;
  /** The group of `@Group`, and `context.groupId` of all others. */
  groupId?: MappedId<M>;
  context?: Mapped<ExtraContext | undefined, M>;
  timestamp?: Mapped<Timestamp | undefined, M>;
  integrations?: Mapped<IntegrationsOptions | undefined, M>;
  /**
   * Which calls are recorded: successful, failed, or both.
   *
   * @default 'success'
   */
  on?: 'success' | 'error' | 'both';
  /** Whether this call is recorded. Default: every call is. */
  when?: (call: CallContext<M>) => boolean;
  /**
   * Name of the `AnalyticsModule` that records it.
   *
   * @default the default instance
   */
  instance?: string;
}

/** Options of `@Track`. */
export interface TrackOptions<M extends AnyMethod = AnyMethod> extends RecordOptions<M> {
  properties?: Mapped<EventProperties | undefined, M>;
}

/** Options of `@Identify`. */
export interface IdentifyOptions<M extends AnyMethod = AnyMethod> extends RecordOptions<M> {
  traits?: Mapped<UserTraits | undefined, M>;
}

/** Options of `@Page` and `@Screen`. */
export interface PageOptions<M extends AnyMethod = AnyMethod> extends TrackOptions<M> {
  category?: Mapped<string | undefined, M>;
}

/** Options of `@Group`. */
export interface GroupOptions<M extends AnyMethod = AnyMethod> extends RecordOptions<M> {
  traits?: Mapped<GroupTraits | undefined, M>;
}

/** Options of `@Alias`. */
export interface AliasOptions<M extends AnyMethod = AnyMethod> extends RecordOptions<M> {
  /** The id that the user had before. */
  previousId?: MappedId<M>;
}
