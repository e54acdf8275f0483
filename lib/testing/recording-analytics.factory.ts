import type { FactoryProvider } from '@nestjs/common';

import type { AnalyticsModuleExtras } from '../analytics/analytics-module-options.interface.js';
import { provideAnalytics } from '../analytics/analytics.factory.js';
import { AnalyticsService } from '../analytics/analytics.service.js';
import type { EventLedger } from '../client/event/event.ledger.js';
import { type HTTPClient, RelayError } from '../client/index.js';
import { AnalyticsRecorder } from './analytics.recorder.js';
import { RecordingQueue } from './recording.queue.js';

const NO_NETWORK: HTTPClient = {
  makeRequest: () => Promise.reject(new RelayError('network_disabled', 'There is no network in this test')),
};

/** Provides the instance of this name. It processes events as ever, and records them instead of sending them. */
export function provideRecordingAnalytics(extras: AnalyticsModuleExtras): FactoryProvider {
  return provideAnalytics(extras, (options, moduleRef) => {
    const recorder = new AnalyticsRecorder();
    const createSink = (ledger: EventLedger) => new RecordingQueue(recorder, ledger);
    const analytics = new AnalyticsService({ ...options, httpClient: NO_NETWORK }, moduleRef, createSink);
    recorder.attach(analytics);
    return analytics;
  });
}
