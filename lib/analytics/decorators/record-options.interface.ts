import type { Observable } from 'rxjs';

import type { EventProperties, ExtraContext, IntegrationsOptions, Timestamp } from '../../client/index.js';

/** The type of a decorated method; the default leaves its arguments and result untyped. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any method can be decorated
export type AnyMethod = (...args: any[]) => any;

/** What a method's promise resolves to, what its Observable emits, or what it returns. */
export type Result<M extends AnyMethod> =
  ReturnType<M> extends Observable<infer Value> ? Value : Awaited<ReturnType<M>>;

/** The end of a call of a decorated method, as mappers see it. */
export interface CallContext<M extends AnyMethod = AnyMethod> {
  /** The arguments of the call. */
  args: Parameters<M>;
  /** What the method returned, its promise resolved to, or its Observable emitted last; absent when it failed. */
  result: Result<M>;
  /** What it threw or rejected with. */
  error?: unknown;
  /** The instance it was called on. */
  target: object;
}

/** A field of the message: its value, or how it is told from the call. */
export type Mapped<T, M extends AnyMethod = AnyMethod> = T | ((call: CallContext<M>) => T);

/** Options of every decorator that records an event. */
export interface RecordOptions<M extends AnyMethod = AnyMethod> {
  userId?: Mapped<string | undefined, M>;
  anonymousId?: Mapped<string | undefined, M>;
  context?: Mapped<ExtraContext | undefined, M>;
  timestamp?: Mapped<Timestamp | undefined, M>;
  integrations?: Mapped<IntegrationsOptions | undefined, M>;
  /**
   * Whether a call is recorded that returned, that failed, or both.
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
