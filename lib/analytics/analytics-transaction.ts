import type { AliasParams, Callback, GroupParams, IdentifyParams, PageParams, ScreenParams } from '../client/index.js';
import type { AnalyticsService } from './analytics.service.js';
import type { AmbientParams } from './context/ambient-params.interface.js';
import type { EventName, PlannedTrackParams, TrackEventFields } from './tracking-plan/tracking-plan.interface.js';

/**
 * Records events in a transaction of the application, with the methods of `AnalyticsService`. Each promise is fulfilled
 * once the event is written in the transaction; the event is delivered if the transaction commits. It rejects with the
 * reason why the event was not written: a rule that it breaks, or the error of the database, which has then aborted the
 * transaction. An event that a plugin or `beforeSend` cancels is not written, and fulfils the promise.
 */
export class AnalyticsTransaction {
  /** @internal */
  constructor(
    private readonly analytics: AnalyticsService,
    private readonly record: (record: (callback: Callback) => void) => Promise<void>,
  ) {}

  /** Records who a user is, with their traits. */
  async identify(message: AmbientParams<IdentifyParams>): Promise<void> {
    await this.record((callback) => this.analytics.identify(message, callback));
  }

  /** Records what a user did. */
  async track<E extends EventName>(message: PlannedTrackParams<E>): Promise<void> {
    await this.record((callback) => this.analytics.track(message, callback));
  }

  /** Records an instance of an event class. */
  async trackEvent(event: object, fields?: TrackEventFields): Promise<void> {
    await this.record((callback) => this.analytics.trackEvent(event, fields, callback));
  }

  /** Records that a user saw a page. */
  async page(message: AmbientParams<PageParams>): Promise<void> {
    await this.record((callback) => this.analytics.page(message, callback));
  }

  /** Records that a user saw a screen of an app. */
  async screen(message: AmbientParams<ScreenParams>): Promise<void> {
    await this.record((callback) => this.analytics.screen(message, callback));
  }

  /** Records that a user belongs to a group. */
  async group(message: AmbientParams<GroupParams>): Promise<void> {
    await this.record((callback) => this.analytics.group(message, callback));
  }

  /** Records that two ids belong to the same user. */
  async alias(message: AmbientParams<AliasParams>): Promise<void> {
    await this.record((callback) => this.analytics.alias(message, callback));
  }
}
