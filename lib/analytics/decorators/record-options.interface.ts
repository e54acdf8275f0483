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
export type RecordedMethod = (...args: any[]) => any;

/**
 * Result of a method: the value that it returns or its promise resolves to, or that the Observable or async iterable
 * among these emits.
 */
export type MethodResult<M extends RecordedMethod> = StreamResult<Awaited<ReturnType<M>>>;

type StreamResult<T> = T extends Observable<infer Value> ? Value : T extends AsyncIterable<infer Value> ? Value : T;

/** A finished call of a decorated method, as passed to mappers. */
export interface CallContext<M extends RecordedMethod = RecordedMethod> {
  /** The arguments of the call. */
  args: Parameters<M>;
  /**
   * The value that the method returned, its promise resolved to, or its Observable or async iterable emitted last;
   * undefined when the call failed.
   */
  result: MethodResult<M>;
  /** The error that the method threw or rejected with. */
  error?: unknown;
  /** The HTTP request during which the call was made, if any. */
  request?: AnalyticsRequest | undefined;
  /** The object that the method was called on. */
  target: object;
}

/**
 * A value that is neither a promise nor a function. Types with arbitrary fields, such as `EventProperties`, would
 * otherwise accept both, and thus an asynchronous mapper.
 */
export type PlainValue<T> = T extends object
  ? T & { readonly [Symbol.toStringTag]?: never; readonly [Symbol.hasInstance]?: never }
  : T;

/** A field of the message: its value, or a mapper, which computes it from the call. Mappers are synchronous. */
export type MappedField<T, M extends RecordedMethod = RecordedMethod> =
  PlainValue<T> | ((call: CallContext<M>) => PlainValue<T>);

/** An id. A number or bigint is recorded as the string of its digits; without a value, the ambient id is used. */
export type MappedId<M extends RecordedMethod = RecordedMethod> = MappedField<AmbientId | null | undefined, M>;

/** Options of every decorator that records an event. Omitted ids and context come from the ambient context. */
export interface RecordOptions<M extends RecordedMethod = RecordedMethod> {
  userId?: MappedId<M>;
  anonymousId?: MappedId<M>;
  /** The group of `@Group`; `context.groupId` of any other message. */
  groupId?: MappedId<M>;
  context?: MappedField<ExtraContext | undefined, M>;
  timestamp?: MappedField<Timestamp | undefined, M>;
  integrations?: MappedField<IntegrationsOptions | undefined, M>;
  /**
   * Which calls are recorded: successful, failed, or both.
   *
   * @default 'success'
   */
  on?: 'success' | 'error' | 'both';
  /** Returns whether this call is recorded. Default: every call is recorded. */
  when?: (call: CallContext<M>) => boolean;
  /**
   * Name of the `AnalyticsModule` that records the event.
   *
   * @default the default instance
   */
  instance?: string;
}

/** Options of `@Track`. */
export interface TrackOptions<M extends RecordedMethod = RecordedMethod> extends RecordOptions<M> {
  properties?: MappedField<EventProperties | undefined, M>;
}

/** Options of `@Identify`. */
export interface IdentifyOptions<M extends RecordedMethod = RecordedMethod> extends RecordOptions<M> {
  traits?: MappedField<UserTraits | undefined, M>;
}

/** Options of `@Page` and `@Screen`. */
export interface PageOptions<M extends RecordedMethod = RecordedMethod> extends TrackOptions<M> {
  category?: MappedField<string | undefined, M>;
}

/** Options of `@Group`. */
export interface GroupOptions<M extends RecordedMethod = RecordedMethod> extends RecordOptions<M> {
  traits?: MappedField<GroupTraits | undefined, M>;
}

/** Options of `@Alias`. */
export interface AliasOptions<M extends RecordedMethod = RecordedMethod> extends RecordOptions<M> {
  /** The user's previous id. */
  previousId?: MappedId<M>;
}
