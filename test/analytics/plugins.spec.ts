import { Injectable } from '@nestjs/common';
import { type AnalyticsPlugin, AnalyticsService, type EventContext } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startProvider } from './support/recorded.provider.js';

@Injectable()
class Shop {
  constructor(readonly analytics: AnalyticsService) {}
}

describe('A plugin that never returns', () => {
  const afterwards = useCleanUps();

  it('is logged once, and holds up no shutdown', async () => {
    const plugin: AnalyticsPlugin = {
      name: 'Archive',
      type: 'destination',
      isLoaded: () => true,
      load: () => Promise.resolve(),
      track: () => new Promise<EventContext>(() => undefined),
    };
    const { app, target, log } = await startProvider(afterwards, Shop, {
      options: { plugins: [plugin], httpRequestTimeout: 100 },
    });
    for (const event of ['First', 'Second']) target.analytics.track({ event, userId: 'u1' });
    await app.close();
    expect(target.analytics.pendingCount).toBe(0);
    expect(log.matching(/^(warn|error)/)).toEqual([
      'warn A plugin failed: Plugin "Archive" took longer than 100 ms (httpRequestTimeout)',
    ]);
  });
});
