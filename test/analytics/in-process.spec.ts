import { Injectable, type ModuleMetadata, type OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  Analytics,
  AnalyticsModule,
  type AnalyticsModuleExtras,
  type AnalyticsModuleOptions,
  AnalyticsService,
  memoryQueue,
  sqliteQueue,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

@Injectable()
class Starting implements OnModuleInit {
  failure: unknown = 'none yet';

  constructor(private readonly analytics: AnalyticsService) {}

  onModuleInit(): void {
    this.analytics.track({ userId: 'u1', event: 'Started' }, (error) => (this.failure = error));
  }
}

describe('An application that records for its own WebhookDestinationModule', () => {
  const afterwards = useCleanUps();

  async function startReceiver() {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    return receiver;
  }

  function relay(source: string, receiver: Receiver, prefix = 'v1', queue = memoryQueue()) {
    return WebhookDestinationModule.forRoot({
      sources: [{ name: source, writeKey: `wk_${source}` }],
      destinations: [{ urls: [receiver.url] }],
      queue,
      ingest: { prefix },
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    });
  }

  async function start(options: AnalyticsModuleOptions & AnalyticsModuleExtras, metadata: ModuleMetadata) {
    const log = new LogLines();
    const testing = await Test.createTestingModule({
      ...metadata,
      imports: [AnalyticsModule.forRoot(options), ...(metadata.imports ?? [])],
    })
      .setLogger(log)
      .compile();
    const app = testing.createNestApplication();
    app.useLogger(log);
    afterwards(() => app.close());
    await app.init();
    return { app, log };
  }

  const names = (receiver: Receiver) => receiver.webhooks.map(({ body }) => body.event);

  it.each<[string, object]>([
    ['left out', {}],
    ['null', { host: null, httpClient: null, flushInterval: null }],
  ])('hands events over without waiting for a batch where the settings are %s', async (_case, settings) => {
    const receiver = await startReceiver();
    const { app } = await start({ writeKey: 'wk_shop', ...settings }, { imports: [relay('shop', receiver)] });
    const recordedAt = Date.now();
    for (const event of ['One', 'Two', 'Three']) app.get(AnalyticsService).track({ userId: 'u1', event });
    await receiver.received(3);
    expect(Date.now() - recordedAt).toBeLessThan(9_000); // the default interval of a remote relay is 10 s
    expect(names(receiver).sort()).toEqual(['One', 'Three', 'Two']);
  });

  it('fails the events that ingest refuses, and delivers the others', async () => {
    const receiver = await startReceiver();
    const { app } = await start({ writeKey: 'wk_shop' }, { imports: [relay('shop', receiver)] });
    const analytics = app.get(AnalyticsService);
    await analytics.register({
      name: 'Forgetful',
      type: 'enrichment',
      version: '1',
      isLoaded: () => true,
      load: () => Promise.resolve(),
      track: (ctx) => {
        if (ctx.event.event === 'Refused') ctx.updateEvent('userId', undefined);
        return ctx;
      },
    });
    const outcomes: Record<string, unknown> = {};
    for (const event of ['One', 'Refused', 'Two']) {
      analytics.track({ userId: 'u1', event }, (error) => void (outcomes[event] = error));
    }
    await analytics.flush();
    expect(outcomes).toMatchObject({ One: undefined, Refused: { code: 'no_user_anon_id' }, Two: undefined });
    await receiver.received(2);
    expect(names(receiver).sort()).toEqual(['One', 'Two']);
  });

  it('sends receivers the same bytes as a client that posts to the relay', async () => {
    const receiver = await startReceiver();
    const { app } = await start({ writeKey: 'wk_shop' }, { imports: [relay('shop', receiver)] });
    await app.listen(0, '127.0.0.1');
    const remote = new Analytics({ writeKey: 'wk_shop', host: await app.getUrl() });
    afterwards(() => remote.closeAndFlush());
    const odd = 'a "quoted" \\ text,\n\u2028 \u{1f600} \ud800 <é> "integrations":{}';
    const timestamp = new Date('2026-05-04T03:02:01.000Z');
    const common = { userId: odd, anonymousId: '', timestamp, context: { [odd]: { empty: {}, list: [null, 1e21] } } };
    const integrations = { Elsewhere: false };
    for (const client of [app.get(AnalyticsService), remote]) {
      client.track({
        ...common,
        event: odd,
        properties: { [odd]: odd, when: timestamp, none: undefined },
        integrations,
      });
      client.identify({ ...common, timestamp: '2026-05-04', traits: { nested: [{ a: {} }] } });
      client.page({ ...common, name: '', category: odd });
      client.screen({ userId: 'u1', anonymousId: 'a1', timestamp });
      client.group({ ...common, groupId: odd });
      client.alias({ userId: odd, previousId: 'before', timestamp });
      client.track({ userId: 'u1', event: 'Unwanted', integrations: { All: false } });
      await client.flush();
    }
    await receiver.received(12);
    const bodies = receiver.webhooks.map(({ raw }) => raw.toString()).sort();
    expect(bodies.filter((_body, index) => index % 2 === 0)).toEqual(bodies.filter((_body, index) => index % 2 === 1));
    expect(new Set(bodies).size).toBe(6);
  });

  it.each(['integrations', 'properties', 'context'])(
    'refuses a promise in %s, as a client that posts does',
    async (field) => {
      const receiver = await startReceiver();
      const { app } = await start({ writeKey: 'wk_shop' }, { imports: [relay('shop', receiver)] });
      const analytics = app.get(AnalyticsService);
      const message = { userId: 'u1', event: 'Promised', [field]: { pending: Promise.resolve(true) } };
      const refused = new Promise((resolve) => analytics.track(message, resolve));
      await analytics.flush();
      expect(await refused).toMatchObject({ code: 'message_unreadable', field: `${field}.pending` });
    },
  );

  it('refuses a message that is nested too deeply, as over HTTP', async () => {
    const receiver = await startReceiver();
    const { app } = await start({ writeKey: 'wk_shop' }, { imports: [relay('shop', receiver)] });
    const analytics = app.get(AnalyticsService);
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_none, index) => [`field${index}`, {}]));
    const outcomes: unknown[] = [];
    for (const properties of [nested(98), wide, nested(99)]) {
      analytics.track({ userId: 'u1', event: 'Nested', properties }, (error) => outcomes.push(error));
    }
    await analytics.flush();
    expect(outcomes).toMatchObject([undefined, undefined, { code: 'message_too_deep' }]);
  });

  it('keeps to flushInterval where it is set', async () => {
    const receiver = await startReceiver();
    const options = { writeKey: 'wk_shop', flushInterval: 300 };
    const { app } = await start(options, { imports: [relay('shop', receiver)] });
    const recordedAt = performance.now();
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Waited' });
    await receiver.received(1);
    expect(performance.now() - recordedAt).toBeGreaterThan(290);
  });

  it('takes what is recorded before the queue is open', async () => {
    const receiver = await startReceiver();
    const folder = await temporaryFolder(afterwards);
    const queue = sqliteQueue({ path: folder.path('relay.db') });
    const { app, log } = await start(
      { writeKey: 'wk_shop', maxRetries: 0 },
      { imports: [relay('shop', receiver, 'v1', queue)], providers: [Starting] },
    );
    await receiver.received(1);
    await waitFor(() => app.get(Starting).failure !== 'none yet');
    expect(app.get(Starting).failure).toBeUndefined();
    expect(log.matching(/not delivered/)).toEqual([]);
  });

  it('does not give up what waits for the application to start', async () => {
    const receiver = await startReceiver();
    const options = { writeKey: 'wk_shop', maxRetries: 0, httpRequestTimeout: 500 };
    const testing = await Test.createTestingModule({
      imports: [AnalyticsModule.forRoot(options), relay('shop', receiver)],
    })
      .setLogger(new LogLines())
      .compile();
    afterwards(() => testing.close());
    const analytics = testing.get(AnalyticsService);
    const failure = new Promise((resolve) => analytics.track({ userId: 'u1', event: 'Waiting' }, resolve));
    await Promise.race([analytics.flush(), new Promise((resolve) => setTimeout(resolve, 700))]);
    await testing.init();
    expect(await failure).toBeUndefined();
  });

  it.each([
    ['memoryQueue', () => memoryQueue()],
    ['sqliteQueue', (path: string) => sqliteQueue({ path })],
  ])('closes although it was never initialized, and says what was not delivered: %s', async (_name, createQueue) => {
    const receiver = await startReceiver();
    const folder = await temporaryFolder(afterwards);
    const log = new LogLines();
    const testing = await Test.createTestingModule({
      imports: [
        AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxRetries: 0 }),
        relay('shop', receiver, 'v1', createQueue(folder.path('relay.db'))),
      ],
    })
      .setLogger(log)
      .compile();
    testing.get(AnalyticsService).track({ userId: 'u1', event: 'Never' });
    await testing.close();
    expect(log.matching(/not delivered/)).toEqual([
      'error Events not delivered: 1 (the application closed before its queue was open)',
    ]);
  });

  it.each(['shop', 'app'])('finds the source %s, whichever of two modules has it', async (source) => {
    const receivers = { shop: await startReceiver(), app: await startReceiver() };
    const imports = [relay('shop', receivers.shop), relay('app', receivers.app, 'app/v1')];
    const { app, log } = await start({ writeKey: `wk_${source}` }, { imports });
    app.get(AnalyticsService).track({ userId: 'u1', event: `Of ${source}` });
    await receivers[source as 'shop' | 'app'].received(1);
    await app.close();
    expect([...names(receivers.shop), ...names(receivers.app)]).toEqual([`Of ${source}`]);
    expect(log.matching(/writeKey/)).toEqual([]);
  });

  it.each<[string, Partial<AnalyticsModuleExtras>]>([
    ['', {}],
    ['AnalyticsModule "marketing": ', { name: 'marketing' }],
  ])('warns at start of a key that no source has, and names the sources: %s', async (subject, extras) => {
    const receiver = await startReceiver();
    const imports = [relay('shop', receiver), relay('app', receiver, 'app/v1')];
    const { log } = await start({ writeKey: 'wk_shpo', ...extras }, { imports });
    expect(log.matching(/writeKey/)).toEqual([
      `warn ${subject}No source of WebhookDestinationModule has this writeKey (sources: shop, app), so events are sent to ` +
        'http://localhost:3000. Use the writeKey of one of these sources, or set host',
    ]);
    expect(log.matching(/wk_/)).toEqual([]);
  });

  it.each([
    ['meant for another host', { host: 'http://127.0.0.1:9' }],
    ['not used', { disable: true }],
  ])('does not warn of a key that is %s', async (_case, given) => {
    const receiver = await startReceiver();
    const options = { writeKey: 'wk_elsewhere', ...given };
    const { log } = await start(options, { imports: [relay('shop', receiver)] });
    expect(log.matching(/writeKey/)).toEqual([]);
  });
});
