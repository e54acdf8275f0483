import type { AnalyticsSettings } from './analytics-settings.interface.js';
import { AnalyticsBase } from './analytics-base.js';
import type { Callback } from './event/pending-event.interface.js';
import { bindCallback } from './event/user-code.caller.js';
import type {
  AliasParams,
  GroupParams,
  IdentifyParams,
  PageParams,
  ScreenParams,
  TrackParams,
} from './message/message.interface.js';
import type { AnalyticsClient } from './pipeline/analytics-client.interface.js';

/**
 * Records events and sends them in batches to the collection service.
 *
 * The methods that record an event return immediately. They throw a {@link ValidationError} when the message breaks a
 * rule. Later errors are never thrown: the callback and the `error` event receive them. Every event has exactly one
 * outcome: its callback is called without an error, its callback is called with an error, or `call_after_close` is
 * emitted.
 *
 * @see docs/specification.md, "Client methods"
 */
export class Analytics extends AnalyticsBase implements AnalyticsClient {
  /** @throws {OptionsError} when a setting breaks a rule; the error names the setting and the rule. */
  constructor(settings: AnalyticsSettings) {
    super(settings);
    this.startDelivery();
  }

  /** Records who a user is, with their traits. */
  identify(message: IdentifyParams, callback?: Callback): void {
    this.record('identify', message, bindCallback(callback));
  }

  /** Records what a user did. */
  track(message: TrackParams, callback?: Callback): void {
    this.record('track', message, bindCallback(callback));
  }

  /** Records that a user saw a page. */
  page(message: PageParams, callback?: Callback): void {
    this.record('page', message, bindCallback(callback));
  }

  /** Records that a user saw a screen of an app. */
  screen(message: ScreenParams, callback?: Callback): void {
    this.record('screen', message, bindCallback(callback));
  }

  /** Records that a user belongs to a group. */
  group(message: GroupParams, callback?: Callback): void {
    this.record('group', message, bindCallback(callback));
  }

  /** Records that two ids belong to the same user. */
  alias(message: AliasParams, callback?: Callback): void {
    this.record('alias', message, bindCallback(callback));
  }
}
