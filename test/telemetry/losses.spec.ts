import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { type DataPoint, MeterProvider } from '@opentelemetry/sdk-metrics';
import { IsString } from 'class-validator';
import {
  AnalyticsModule,
  type AnalyticsModuleOptions,
  AnalyticsService,
  memoryQueue,
  TrackedEvent,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { Analytics, type Context, type Plugin } from 'nestjs-analytics-relay/client';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { PullReader } from '../support/pull.reader.js';
import { Receiver } from '../support/receiver.js';
import { hang, ScriptedReceiver } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';

@TrackedEvent('Signed Up')
class SignedUp {
  @IsString()
  plan!: string;
}

const ordered = { userId: 'u1', event: 'Ordered' };
const wrong = { userId: 'u1', event: 'Signed Up', properties: { plan: 1 } };
const large = { ...ordered, properties: { text: 'x'.repeat(40_000) } };
/** Properties that JSON.stringify refuses, each with an error that has no code of ours. */
const unreadable = (): object[] => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const lazy = {
    get total() {
      throw new Error('not loaded');
    },
  };
  return [circular, lazy, { total: 1n }];
};
const trackingPlan = (violations: 'drop' | 'throw') => ({ events: [SignedUp], violations });

type Recorder = Pick<AnalyticsService, 'track' | 'flush' | 'closeAndFlush'>;

/** How events are lost. */
interface Loss {
  cause: string;
  reason: string;
  options?: Partial<AnalyticsModuleOptions>;
  /** What the endpoint does: answers a status, or nothing at all. */
  endpoint?: 'hangs' | number;
  lose: (analytics: Recorder) => Promise<unknown>;
  lost: number;
}

const losses: Loss[] = [
  {
    cause: 'a full queue',
    reason: 'queue_full',
    options: { maxQueueSize: 1 },
    lose: (analytics) => {
      for (let index = 0; index < 3; index++) analytics.track(ordered);
      return analytics.flush();
    },
    lost: 2,
  },
  {
    cause: 'a message that is too large',
    reason: 'message_too_large',
    lose: (analytics) => {
      analytics.track(large);
      return analytics.flush();
    },
    lost: 1,
  },
  {
    cause: 'messages that cannot be read',
    reason: 'message_unreadable',
    lose: (analytics) => {
      for (const properties of unreadable()) analytics.track({ ...ordered, properties });
      return analytics.flush();
    },
    lost: 3,
  },
  {
    cause: 'a flush that fails',
    reason: 'delivery_failed',
    endpoint: 400,
    lose: (analytics) => {
      analytics.track(ordered);
      analytics.track(ordered);
      return analytics.flush();
    },
    lost: 2,
  },
  {
    cause: 'a flush that takes too long',
    reason: 'flush_timeout',
    endpoint: 'hangs',
    lose: (analytics) => {
      analytics.track(ordered);
      return analytics.flush({ timeout: 100 });
    },
    lost: 1,
  },
  {
    cause: 'a shutdown that takes too long',
    reason: 'flush_timeout',
    endpoint: 'hangs',
    lose: (analytics) => {
      for (let index = 0; index < 20; index++) analytics.track(ordered);
      return analytics.closeAndFlush({ timeout: 100 });
    },
    lost: 20,
  },
  {
    cause: 'a call after the close',
    reason: 'call_after_close',
    lose: async (analytics) => {
      await analytics.closeAndFlush();
      analytics.track(ordered);
    },
    lost: 1,
  },
];

/** Those that the module alone can have. */
const moduleLosses: Loss[] = [
  {
    cause: 'an event that the tracking plan drops',
    reason: 'tracking_plan_violation',
    options: { trackingPlan: trackingPlan('drop') },
    lose: (analytics) => {
      analytics.track(wrong);
      return analytics.flush();
    },
    lost: 1,
  },
  {
    cause: 'an event that the tracking plan refuses with an error',
    reason: 'tracking_plan_violation',
    options: { trackingPlan: trackingPlan('throw') },
    lose: async (analytics) => {
      expect(() => analytics.track(wrong)).toThrow('breaks the tracking plan');
      await analytics.flush();
    },
    lost: 1,
  },
];

describe('Losses before ingest are figures', () => {
  const afterwards = useCleanUps();

  /** Where events are sent to; answers its origin. */
  async function startEndpoint(behaviour: Loss['endpoint'] = 200): Promise<string> {
    if (behaviour === 'hangs') {
      const hanging = await ScriptedReceiver.start(hang);
      afterwards(() => hanging.stop());
      return new URL(hanging.url).origin;
    }
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [behaviour];
    return new URL(receiver.url).origin;
  }

  /** Telemetry of the real SDK; answers how many events were dropped since, by reason. */
  async function createTelemetry() {
    const reader = new PullReader();
    const provider = new MeterProvider({ readers: [reader] });
    afterwards(() => provider.shutdown());
    const read = async () => {
      const metrics = await reader.read();
      const found = metrics.filter(({ descriptor: { name } }) => /events\.(dropped|cancelled)$/.test(name));
      const dataPoints = found.flatMap(({ dataPoints }) => dataPoints as DataPoint<number>[]);
      return new Map(
        dataPoints.map(({ attributes, value }) => [String(attributes.reason ?? 'none: cancelled'), value]),
      );
    };
    const telemetry = openTelemetry({ meterProvider: provider });
    telemetry.follow!(new Analytics({ writeKey: 'none', disable: true })); // so that the figures are read
    const before = await read();
    const dropped = async () =>
      Object.fromEntries(
        [...(await read())]
          .map(([reason, value]): [string, number] => [reason, value - (before.get(reason) ?? 0)])
          .filter(([, value]) => value > 0),
      );
    return { telemetry, dropped };
  }

  async function startApp(options: Partial<AnalyticsModuleOptions>, relay?: ReturnType<typeof relayModule>) {
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop', ...options }), ...(relay ? [relay] : [])];
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(new ExpressAdapter(), { logger: false });
    afterwards(() => app.close());
    return { analytics: app.get(AnalyticsService), host: await listen(app) };
  }

  /** A relay whose queue takes no message, or does not answer. */
  function relayModule(endpoint: Loss['endpoint']) {
    const create = memoryQueue();
    const add =
      endpoint === 'hangs' ? () => new Promise<void>(() => undefined) : () => Promise.reject(new Error('full'));
    return WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: ['http://127.0.0.1:9/hook'] }],
      delivery: { allowedNetworks: ['localhost'] },
      queue: () => (endpoint === undefined ? create() : Object.assign(create(), { add })),
      admin: { token: 'secret' },
    });
  }

  it.each(losses)('of Analytics by $cause', async ({ options = {}, endpoint, lose, reason, lost }) => {
    const { telemetry, dropped } = await createTelemetry();
    const host = await startEndpoint(endpoint);
    const { maxQueueSize } = options;
    await lose(new Analytics({ writeKey: 'wk_shop', host, maxRetries: 0, maxQueueSize, telemetry }) as Recorder);
    expect(await dropped()).toEqual({ [reason]: lost });
  });

  it('of AnalyticsModule do not include events that beforeSend or a plugin cancels, which are counted apart', async () => {
    const { telemetry, dropped } = await createTelemetry();
    const cancelling: Plugin = {
      name: 'consent',
      type: 'before',
      load: () => Promise.resolve(),
      identify: (ctx) => ctx.cancel(new Error('no consent')),
    };
    const beforeSend = () => null;
    const { analytics } = await startApp({ host: await startEndpoint(), telemetry, beforeSend, plugins: [cancelling] });
    analytics.identify({ userId: 'u1' });
    analytics.track(ordered);
    await analytics.flush();
    expect(await dropped()).toEqual({ 'none: cancelled': 2 });
  });

  it.each([...losses, ...moduleLosses])(
    'of AnalyticsModule without a relay by $cause',
    async ({ options, endpoint, lose, reason, lost }) => {
      const { telemetry, dropped } = await createTelemetry();
      const host = await startEndpoint(endpoint);
      const { analytics } = await startApp({ host, maxRetries: 0, telemetry, ...options });
      await lose(analytics);
      expect(await dropped()).toEqual({ [reason]: lost });
    },
  );

  it.each([...losses, ...moduleLosses])(
    'of AnalyticsModule beside a relay, in its overview, by $cause',
    async ({ options, endpoint, lose, lost }) => {
      const { analytics, host } = await startApp({ maxRetries: 0, ...options }, relayModule(endpoint));
      await lose(analytics);
      const headers = { Authorization: 'Bearer secret' };
      const read = async () => {
        const answer = await fetch(`${host}/relay/api/overview`, { headers });
        return ((await answer.json()) as { process: { lostBeforeIngest: number } }).process.lostBeforeIngest;
      };
      await waitFor(async () => (await read()) === lost);
    },
  );

  it('of AnalyticsModule beside a relay that refuses an event by a rule', async () => {
    const { telemetry, dropped } = await createTelemetry();
    const anonymous = {
      ...{ name: 'anonymous', version: '1.0.0', type: 'enrichment' as const },
      isLoaded: () => true,
      load: () => Promise.resolve(),
      track: (context: Context) => {
        context.updateEvent('userId', undefined);
        return context;
      },
    };
    const { analytics } = await startApp({ plugins: [anonymous], telemetry }, relayModule(undefined));
    analytics.track({ userId: 'u1', event: 'Ordered' });
    await analytics.flush();
    expect(await dropped()).toEqual({ rejected: 1 });
  });

  it('of a client with `disable` are none', async () => {
    const { telemetry, dropped } = await createTelemetry();
    const { analytics } = await startApp({ disable: true, trackingPlan: trackingPlan('throw'), telemetry });
    expect(() => analytics.track(wrong)).toThrow('breaks the tracking plan');
    analytics.track(large);
    await analytics.flush();
    expect(await dropped()).toEqual({});
  });

  it('of an application whose shutdown takes too long', async () => {
    const { telemetry, dropped } = await createTelemetry();
    const host = await startEndpoint('hangs');
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop', host, shutdownTimeout: 100, telemetry })];
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(new ExpressAdapter(), { logger: false });
    await app.init();
    for (let index = 0; index < 3; index++) app.get(AnalyticsService).track(ordered);
    await app.close();
    expect(await dropped()).toEqual({ flush_timeout: 3 });
  });
});
