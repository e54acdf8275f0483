import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { AnalyticsContext, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { waitFor } from '../../support/wait-for.js';
import { CollectingApp } from '../support/collecting.app.js';

@Injectable()
class Jobs {
  runs = 0;

  constructor(private readonly registry: SchedulerRegistry) {}

  @Track('Cron Done', {
    properties: ({ request }) => ({ request, run: AnalyticsContext.get()?.context?.run as number }),
  })
  @Cron('* * * * * *', { name: 'cron' })
  async cron(): Promise<void> {
    await this.registry.getCronJob('cron').stop();
    AnalyticsContext.set({ userId: 'cron', context: { run: ++this.runs } });
    await Promise.resolve();
  }

  @Interval('interval', 5)
  @Track('Interval Done', { userId: 'interval' })
  interval(): void {
    this.registry.deleteInterval('interval');
  }

  @Timeout(5)
  @Track('Timeout Failed', { userId: 'timeout', on: 'error' })
  async timeout(): Promise<never> {
    await Promise.resolve();
    throw new Error('the job failed');
  }
}

describe('Scheduled jobs', () => {
  const afterwards = useCleanUps();

  it('are recorded at @Cron, @Interval and @Timeout, and fail as before', async () => {
    const app = await CollectingApp.start(afterwards, { imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    await waitFor(() => app.app.get(Jobs).runs === 1);
    const events = await app.eventually(3);
    expect(events.map(({ event, userId }) => [event, userId]).sort()).toEqual([
      ['Cron Done', 'cron'],
      ['Interval Done', 'interval'],
      ['Timeout Failed', 'timeout'],
    ]);
    expect(events.find(({ event }) => event === 'Cron Done')!.properties).toEqual({ run: 1 });
    expect(app.log.matching(/the job failed/)).toHaveLength(1);
  });
});
