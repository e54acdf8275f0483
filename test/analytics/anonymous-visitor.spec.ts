import { Controller, Get, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsContext,
  AnalyticsModule,
  type AnalyticsModuleOptions,
  AnalyticsService,
  InjectAnalytics,
  Track,
  ValidationError,
} from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { LogLines } from '../support/relay.js';
import { CollectingApp } from './support/collecting.app.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const NOBODY = 'at least one of userId and anonymousId must be a non-empty string';

/** What the handler does beside the decorated call; each test sets it. */
let act: (analytics: AnalyticsService) => unknown = () => undefined;

@Injectable()
class Catalogue {
  @Track('Searched')
  async search(): Promise<void> {
    await Promise.resolve();
  }
}

@Controller()
class Routes {
  constructor(
    private readonly analytics: AnalyticsService,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  async view(): Promise<void> {
    this.analytics.track({ event: 'Viewed' });
    await this.catalogue.search();
    AnalyticsContext.run({ context: { nested: true } }, () => this.analytics.page({ name: 'Shop' }));
    await act(this.analytics);
  }
}

describe.each(platforms)('On $platform, in a request where nobody is known', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(options: Partial<AnalyticsModuleOptions> = {}, what: typeof act = () => undefined) {
    act = what;
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      byNestFactory: true,
      controllers: [Routes],
      providers: [Catalogue],
      options,
    });
    const get = async (cookie?: string) => (await fetch(app.host, { headers: cookie ? { cookie } : {} })).status;
    const idsOf = async (cookie?: string) => {
      const before = app.collected.length;
      expect(await get(cookie)).toBe(200);
      return (await app.events()).slice(before).map(({ userId, anonymousId }) => userId ?? anonymousId);
    };
    return { ...app, get, idsOf, events: () => app.events() };
  }

  it('all events have one random anonymousId, another one in each request', async () => {
    const { idsOf } = await start();
    const [first, second] = [await idsOf(), await idsOf()];
    expect(first).toEqual([expect.stringMatching(UUID), first[0], first[0]]);
    expect(second).toEqual([expect.stringMatching(UUID), second[0], second[0]]);
    expect(second[0]).not.toBe(first[0]);
  });

  it.each([
    [
      'as the SDK writes it',
      'ajs_anonymous_id=2f1c6d3e-8a0b-4c7d-9e5f-0123456789ab',
      '2f1c6d3e-8a0b-4c7d-9e5f-0123456789ab',
    ],
    ['among others', 'a=b; x_ajs_anonymous_id=no;ajs_anonymous_id = v1 ; z', 'v1'],
    ['percent-encoded', 'ajs_anonymous_id=z%C3%BCrich%3B%20caf%C3%A9=', 'zürich; café='],
    ['in JSON, as earlier SDKs wrote it', 'ajs_anonymous_id=%22v-1%22', 'v-1'],
    ['in quotes', 'ajs_anonymous_id="v-1"', 'v-1'],
    ['of digits', 'ajs_anonymous_id=12345678901234567890', '12345678901234567890'],
    ['of the greatest length', `ajs_anonymous_id=${'v'.repeat(256)}`, 'v'.repeat(256)],
  ])('all events have the id in the browser SDK’s cookie: %s', async (_how, cookie, id) => {
    const { idsOf } = await start();
    expect(await idsOf(cookie)).toEqual([id, id, id]);
  });

  it.each([
    ['empty', 'ajs_anonymous_id='],
    ['without a value', 'ajs_anonymous_id'],
    ['of a longer name without a value', 'ajs_anonymous_idx'],
    ['wrongly encoded', 'ajs_anonymous_id=%E0%A4%A'],
    ['with half a quote', 'ajs_anonymous_id=%22v1'],
    ['null', 'ajs_anonymous_id=null'],
    ['an object', 'ajs_anonymous_id=%7B%22id%22%3A1%7D'],
    ['with a control character', 'ajs_anonymous_id=v1%00'],
    ['too long', `ajs_anonymous_id=${'v'.repeat(257)}`],
  ])('a cookie that is %s counts as absent', async (_how, cookie) => {
    const { idsOf } = await start();
    const ids = await idsOf(cookie);
    expect(ids).toEqual([expect.stringMatching(UUID), ids[0], ids[0]]);
  });

  it('ids that are known come first, and a visitor joins no user', async () => {
    const { idsOf } = await start(
      { identity: ({ headers }) => ({ userId: headers!['cookie'] ? 'u1' : undefined }) },
      (analytics) => {
        analytics.track({ event: 'Own', userId: 'u2' });
        AnalyticsContext.run({ anonymousId: 'a3' }, () => analytics.track({ event: 'Named' }));
      },
    );
    expect(await idsOf('ajs_anonymous_id=v1')).toEqual(['u1', 'u1', 'u1', 'u2', 'u1']);
    const [visitor, ...others] = await idsOf();
    expect(others).toEqual([visitor, visitor, 'u2', 'a3']);
  });

  it('alias still needs a userId', async () => {
    let error: unknown;
    const { get } = await start({}, (analytics) => {
      try {
        analytics.alias({ previousId: 'p1' });
      } catch (thrown) {
        error = thrown;
      }
    });
    await get();
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toHaveProperty('field', 'userId');
  });

  it('the option anonymous: false turns it off: a call throws, and a decorator logs', async () => {
    const { app, get, events, log } = await start({ anonymous: false });
    expect(await get('ajs_anonymous_id=v1')).toBe(500);
    expect(log.matching(/ERROR|error/).join()).toContain(NOBODY);
    await app.get(Catalogue).search();
    expect(log.matching(/^warn/)).toEqual([`warn Catalogue.search was not recorded: ${NOBODY}`]);
    expect(await events()).toEqual([]);
  });

  it('several instances have the same anonymousId, each by its own option', async () => {
    @Controller()
    class Both {
      constructor(
        private readonly shop: AnalyticsService,
        @InjectAnalytics('second') private readonly second: AnalyticsService,
        @InjectAnalytics('strict') private readonly strict: AnalyticsService,
      ) {}

      @Get()
      view(): void {
        this.second.track({ event: 'Second' });
        this.shop.track({ event: 'Shop' });
        expect(() => this.strict.track({ event: 'Strict' })).toThrow(NOBODY);
      }
    }
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      byNestFactory: true,
      controllers: [Both],
      imports: [
        AnalyticsModule.forRoot({ name: 'second', writeKey: 'k2', disable: true }),
        AnalyticsModule.forRoot({ name: 'strict', writeKey: 'k3', disable: true, anonymous: false }),
      ],
    });
    const second: unknown[] = [];
    const instance = app.app.get(Both)['second'];
    instance.on('track', ({ event }) => second.push(event.anonymousId));
    expect((await fetch(app.host)).status).toBe(200);
    await instance.flush();
    expect(second).toEqual([expect.stringMatching(UUID)]);
    expect((await app.events()).map(({ anonymousId }) => anonymousId)).toEqual(second);
  });

  it('AnalyticsTestingModule records it as well', async () => {
    act = () => undefined;
    const testing = await Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot()],
      controllers: [Routes],
      providers: [Catalogue],
    }).compile();
    const app = testing.createNestApplication(createAdapter());
    afterwards(() => app.close());
    await fetch(await listen(app), { headers: { cookie: 'ajs_anonymous_id=v1' } });
    const { events } = app.get(AnalyticsRecorder);
    expect(events.map(({ anonymousId }) => anonymousId)).toEqual(['v1', 'v1', 'v1']);
  });
});

describe('Outside of an HTTP request', () => {
  const afterwards = useCleanUps();

  it('an event without ids is logged and not recorded, also in a scope of run', async () => {
    const log = new LogLines();
    const app = await Test.createTestingModule({ imports: [AnalyticsTestingModule.forRoot()] })
      .setLogger(log)
      .compile();
    afterwards(() => app.close());
    const analytics = app.get(AnalyticsService);
    const track = () => analytics.track({ event: 'Nobody' });
    track();
    AnalyticsContext.run({ groupId: 'g1' }, track);
    expect(app.get(AnalyticsRecorder).events).toEqual([]);
    expect(log.matching(/was not recorded/)).toEqual([`warn track was not recorded: ${NOBODY}`]);
  });
});
