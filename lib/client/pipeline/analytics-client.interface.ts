import type { AnalyticsEvents, Listener } from '../event/analytics.emitter.js';
import type { Callback } from '../event/pending-event.interface.js';
import type {
  AliasParams,
  GroupParams,
  IdentifyParams,
  PageParams,
  ScreenParams,
  TrackParams,
} from '../message/message.interface.js';

/** The client, as passed to its plugins. */
export interface AnalyticsClient {
  readonly VERSION: string;
  identify(message: IdentifyParams, callback?: Callback): void;
  track(message: TrackParams, callback?: Callback): void;
  page(message: PageParams, callback?: Callback): void;
  screen(message: ScreenParams, callback?: Callback): void;
  group(message: GroupParams, callback?: Callback): void;
  alias(message: AliasParams, callback?: Callback): void;
  flush(options?: { timeout?: number | undefined }): Promise<void>;
  on<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this;
  once<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this;
  off<E extends keyof AnalyticsEvents>(event: E, listener: Listener<E>): this;
  emit<E extends keyof AnalyticsEvents>(event: E, ...args: AnalyticsEvents[E]): this;
}
