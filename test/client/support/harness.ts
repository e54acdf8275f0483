import { afterEach } from '@jest/globals';
import { Analytics, type AnalyticsSettings, type Context, type TrackParams } from 'nestjs-analytics-relay/client';
import { Collector, type Answer } from './collector.js';

const collectors: Collector[] = [];
const instances: Analytics[] = [];

afterEach(async () => {
  // What a test left undone must not reach the next one.
  await Promise.all(instances.splice(0).map((analytics) => analytics.closeAndFlush({ timeout: 1 })));
  await Promise.all(collectors.splice(0).map((collector) => collector.stop()));
});

/** Starts a collector that stops after the test. */
export async function collect(...answers: Answer[]): Promise<Collector> {
  const collector = await Collector.start(...answers);
  collectors.push(collector);
  return collector;
}

/** Makes an instance that is closed after the test. It sends only when told to, unless the settings say otherwise. */
export function create(settings: Partial<AnalyticsSettings>): Analytics {
  const analytics = new Analytics({ writeKey: 'wk_test', flushInterval: 600_000, ...settings });
  instances.push(analytics);
  return analytics;
}

/** A small valid event. */
export const event = (fields: Partial<TrackParams> = {}): TrackParams => ({
  userId: 'u1',
  event: 'Ordered',
  ...fields,
});

/** Records an event and resolves with what its callback received. */
export function tracked(analytics: Analytics, message: TrackParams = event()): Promise<{ err: unknown; ctx: Context }> {
  return new Promise((resolve) => analytics.track(message, (err, ctx) => resolve({ err, ctx: ctx! })));
}
