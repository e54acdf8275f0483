import type { ModuleRef } from '@nestjs/core';

import type { CheckedAnalyticsOptions } from '../analytics/analytics.options.js';
import { AnalyticsService } from '../analytics/analytics.service.js';
import type { EventLedger } from '../client/delivery/event.ledger.js';
import type { EventSink } from '../client/delivery/event.queue.js';
import type { HTTPClient } from '../client/index.js';
import type { ResolvedSettings } from '../client/settings.rules.js';
import { AnalyticsRecorder } from './analytics.recorder.js';
import { RecordingQueue } from './recording.queue.js';

const NO_NETWORK: HTTPClient = { makeRequest: () => Promise.reject(new Error('There is no network in this test')) };

/** `AnalyticsService` with all that it does to an event before it is sent, and nothing after that. */
export class RecordingAnalytics extends AnalyticsService {
  constructor(options: CheckedAnalyticsOptions, moduleRef: ModuleRef) {
    super({ ...options, httpClient: NO_NETWORK }, moduleRef);
  }

  protected override createQueue(_settings: ResolvedSettings, ledger: EventLedger): EventSink {
    const recorder = new AnalyticsRecorder();
    recorder.attach(this);
    return new RecordingQueue(recorder, ledger);
  }
}
