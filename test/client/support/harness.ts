import { Analytics, type AnalyticsSettings, type Context, type TrackParams } from 'nestjs-analytics-relay/client';
import { onTestFinished } from 'vitest';
import { Collector, type Answer } from './collector.js';

/** Starts a collector that stops after the test. */
export async function collect(...answers: Answer[]): Promise<Collector> {
  const collector = await Collector.start(...answers);
  onTestFinished(() => collector.stop());
  return collector;
}

/** Makes an instance that is closed after the test. It sends only when told to, unless the settings say otherwise. */
export function create(settings: Partial<AnalyticsSettings>): Analytics {
  const analytics = new Analytics({ writeKey: 'wk_test', flushInterval: 600_000, ...settings });
  onTestFinished(() => analytics.closeAndFlush({ timeout: 1 })); // what it left undone must not reach the next test
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
