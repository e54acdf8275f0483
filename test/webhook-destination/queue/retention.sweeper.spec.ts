import { Injectable, Logger, type ModuleMetadata } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry as HostRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import {
  type DeliveryQueue,
  memoryQueue,
  type RetentionBound,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { fakeTimers } from '../../support/clock.js';

const SWEEP = 'nestjs-analytics-relay:sweep';
const SWEEP_INTERVAL = 15_000;

/** A job of the host application. */
@Injectable()
class HostJobs {
  intervals = 0;
  crons = 0;

  @Interval(1_000)
  onInterval(): void {
    this.intervals++;
  }

  @Cron('* * * * * *')
  onCron(): void {
    this.crons++;
  }
}

describe('The sweep of old records', () => {
  const afterwards = useCleanUps();

  beforeEach(() => void fakeTimers({ now: 1_700_000_000_000 }));
  afterEach(() => void vi.useRealTimers());

  /** An application with a record that is past its retention. */
  async function startApp(metadata: ModuleMetadata, modules = 1, dead: RetentionBound = { age: 0 }, count = 1) {
    const queues: DeliveryQueue[] = [];
    const relay = (name: string) =>
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk' }],
        destinations: [{ name, urls: ['https://receiver.example/hook'] }],
        ingest: false,
        ...(count > 1 && { admin: { token: 'a-token-of-the-tests' } }),
        queue: () => {
          const queue = memoryQueue({ retention: { dead } })();
          queues.push(queue);
          return queue;
        },
      });
    const testing = await Test.createTestingModule({
      ...metadata,
      imports: [
        ...Array.from({ length: modules }, (_, index) => relay(`Webhooks ${index}`)),
        ...(metadata.imports ?? []),
      ],
    }).compile();
    const app = testing.createNestApplication({ logger: false });
    await app.init();
    afterwards(() => app.close());
    for (const queue of queues) {
      for (let index = 1; index <= count; index++) {
        await queue.add([
          {
            destination: 'Other',
            source: 'shop',
            messageId: `m${index}`,
            userId: 'u1',
            body: Buffer.from('{}'),
            acceptedAt: Date.now(),
          },
        ]);
        const lease = await firstValueFrom(queue.consume('Other', 1));
        await lease.settle({ state: 'dead', reason: 'too late', failedUrls: [] });
      }
    }
    return { app, service: app.get(WebhookDestinationService) };
  }

  it('runs in the registry of the host, and each job of the host runs once', async () => {
    const { app, service } = await startApp({ imports: [ScheduleModule.forRoot()], providers: [HostJobs] });
    expect(await service.deliveries({ state: 'dead' })).toHaveLength(1);
    expect(app.get(HostRegistry).getIntervals()).toContain(SWEEP);
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL);
    expect(await service.deliveries({ state: 'dead' })).toEqual([]);
    const jobs = app.get(HostJobs);
    expect({ intervals: jobs.intervals, crons: jobs.crons }).toEqual({ intervals: 15, crons: 15 });
    await app.close();
    expect(app.get(HostRegistry).getIntervals()).toEqual([]);
  });

  it('runs without a ScheduleModule, and starts no job that the host left off', async () => {
    const { app, service } = await startApp({ providers: [HostJobs] });
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL);
    expect(await service.deliveries({ state: 'dead' })).toEqual([]);
    expect(app.get(HostJobs)).toEqual({ intervals: 0, crons: 0 });
    await app.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('runs for each module of an application', async () => {
    const { app } = await startApp({ imports: [ScheduleModule.forRoot({ cronJobs: false })] }, 2);
    expect(app.get(HostRegistry).getIntervals()).toEqual([SWEEP, `${SWEEP}:2`]);
  });

  it('finds the registry of another copy of the package', async () => {
    const copy = { SchedulerRegistry: class SchedulerRegistry extends HostRegistry {} };
    const { app } = await startApp({ providers: [copy.SchedulerRegistry] });
    const registry = app.get(copy.SchedulerRegistry);
    expect(registry.getIntervals()).toEqual([SWEEP]);
    await app.close();
    expect(registry.getIntervals()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves a class alone that only has the name of the registry', async () => {
    const own = { SchedulerRegistry: class SchedulerRegistry {} };
    const { service } = await startApp({ providers: [own.SchedulerRegistry] });
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL);
    expect(await service.deliveries({ state: 'dead' })).toEqual([]);
  });

  it('logs nothing when the end of the application cuts a sweep short', async () => {
    const { app, service } = await startApp({});
    const error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const { queue } = (service as unknown as { steps: { queue: DeliveryQueue } }).steps;
    let cut = (_error: Error) => {};
    vi.spyOn(queue, 'sweep').mockReturnValueOnce(new Promise((_, reject) => (cut = reject)));
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL);
    await app.close();
    cut(new Error('it is closed'));
    await vi.advanceTimersByTimeAsync(0);
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });

  it('counts the records that a count removes, and names the dead ones in one line', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const { service } = await startApp({}, 1, { count: 1 }, 4);
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL * 2);
    expect(await service.deliveries({ state: 'dead' })).toMatchObject([{ messageId: 'm4' }]);
    const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('removed'));
    expect(lines).toEqual([
      'Dead deliveries removed because there were more than retention.dead.count: 3 of "Other". They cannot be replayed',
    ]);
    const { metrics } = (service as unknown as { steps: { metrics: { info: { name: string }; collect(): unknown }[] } })
      .steps;
    const removed = metrics.find(({ info }) => info.name === 'analytics_relay.delivery.removed');
    expect(removed!.collect()).toEqual([{ attributes: { state: 'dead', destination: 'Other' }, value: 3 }]);
    warn.mockRestore();
  });

  it('can be stopped by the host', async () => {
    const { app, service } = await startApp({ imports: [ScheduleModule.forRoot()] });
    app.get(HostRegistry).deleteInterval(SWEEP);
    await vi.advanceTimersByTimeAsync(SWEEP_INTERVAL);
    expect(await service.deliveries({ state: 'dead' })).toHaveLength(1);
  });
});
