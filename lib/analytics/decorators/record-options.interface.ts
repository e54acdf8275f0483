import type { EventProperties, ExtraContext, IntegrationsOptions, Timestamp } from '../../client/index.js';

/** The call of a decorated method, as mappers see it. */
export interface CallContext {
  /** The arguments of the call. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a decorator does not know the types of its method
  args: any[];
  /** What the method returned, its promise resolved to or its Observable emitted last. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a decorator does not know the types of its method
  result?: any;
  /** What it threw or rejected with. */
  error?: unknown;
  /** The instance it was called on. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a decorator does not know the class of its method
  target: any;
}

/** A field of the message: its value, or how it is told from the call. */
export type Mapped<T> = T | ((call: CallContext) => T);

/** Options of every decorator that records an event. */
export interface RecordOptions {
  userId?: Mapped<string | undefined>;
  anonymousId?: Mapped<string | undefined>;
  context?: Mapped<ExtraContext | undefined>;
  timestamp?: Mapped<Timestamp | undefined>;
  integrations?: Mapped<IntegrationsOptions | undefined>;
  /**
   * Whether a call is recorded that returned, that threw, or both.
   * @default 'success'
   */
  on?: 'success' | 'error' | 'both';
  /** Whether this call is recorded. Default: every call is. */
  when?: (call: CallContext) => boolean;
  /**
   * Name of the `AnalyticsModule` that records it.
   * @default the default instance
   */
  instance?: string;
}

/** Options of `@Track`. */
export interface TrackOptions extends RecordOptions {
  properties?: Mapped<EventProperties | undefined>;
}
