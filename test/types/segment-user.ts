// Code as users of @segment/analytics-node write it. The type test compiles it against that package and against ours.
import {
  Analytics,
  Context,
  FetchHTTPClient,
  type AliasParams,
  type AnalyticsSettings,
  type GroupParams,
  type GroupTraits,
  type HTTPClient,
  type HTTPClientRequest,
  type HTTPFetchFn,
  type HTTPFetchRequest,
  type HTTPResponse,
  type IdentifyParams,
  type PageParams,
  type Plugin,
  type TrackParams,
  type UserTraits,
} from '@segment/analytics-node';

const fetchFn: HTTPFetchFn = async (url, options) => {
  const { method, headers, body }: HTTPFetchRequest = options;
  return fetch(url, { method, headers, body, signal: options.signal as AbortSignal });
};

class ProxyClient implements HTTPClient {
  async makeRequest(options: HTTPClientRequest): Promise<HTTPResponse> {
    const response = await fetch(options.url, {
      method: options.method,
      headers: options.headers,
      body: options.body,
      signal: AbortSignal.timeout(options.httpRequestTimeout),
    });
    return { status: response.status, statusText: response.statusText, headers: response.headers };
  }
}

const request: HTTPClientRequest = { url: '/', method: 'POST', headers: {}, body: '{}', httpRequestTimeout: 1_000 };
export const answered = new FetchHTTPClient(fetchFn).makeRequest(request);

const settings: AnalyticsSettings = {
  writeKey: 'wk',
  host: 'https://api.example',
  path: '/v1/batch',
  maxRetries: 3,
  flushAt: 15,
  maxEventsInBatch: 15,
  flushInterval: 10000,
  httpRequestTimeout: 10000,
  disable: false,
  httpClient: fetchFn,
};

const analytics = new Analytics(settings);
new Analytics({ ...settings, httpClient: new ProxyClient() });
new Analytics({ ...settings, httpClient: new FetchHTTPClient(fetchFn) });
new Analytics({ writeKey: 'wk', httpClient: fetch });

const userTraits: UserTraits = { email: 'a@b.example', plan: 'pro', logins: 5, address: { city: 'Bern' } };
const groupTraits: GroupTraits = { name: 'Initech', employees: 329 };
const identify: IdentifyParams = { userId: 'u', traits: userTraits, timestamp: new Date() };
const track: TrackParams = { anonymousId: 'a', event: 'E', properties: { total: 1 }, context: { ip: '::1' } };
const page: PageParams = { userId: 'u', category: 'Docs', name: 'Home', properties: { url: '/' } };
const group: GroupParams = { userId: 'u', groupId: 'g', traits: groupTraits, integrations: { All: false, X: true } };
const alias: AliasParams = { userId: 'u', previousId: 'p', messageId: 'm' };

analytics.identify(identify);
analytics.track(track, (err, ctx) => {
  if (err) console.error(err);
  const event: string | undefined = ctx?.event.event;
  console.log(event, ctx?.event.messageId, ctx?.event.properties?.total, ctx?.logs(), ctx?.id);
});
analytics.page(page);
analytics.screen({ userId: 'u', name: 'Home' });
analytics.group(group);
analytics.alias(alias);
analytics.track({
  userId: 'u',
  event: 'E',
  context: { app: { version: '1' }, campaign: { name: 'spring', source: 's', medium: 'm' } },
});

const enrich: Plugin = {
  name: 'enrich',
  type: 'enrichment',
  version: '1.0.0',
  isLoaded: () => true,
  load: () => Promise.resolve(),
  ready: () => Promise.resolve(),
  track: (ctx) => {
    ctx.updateEvent('properties.seen', true);
    ctx.event.context!.ip = '0.0.0.0';
    ctx.log('debug', 'seen', { by: 'enrich' });
    if (ctx.event.timestamp instanceof Date) ctx.updateEvent('properties.hour', ctx.event.timestamp.getUTCHours());
    ctx.stats.increment('seen', 1, ['enrich']);
    ctx.logger.log('info', `attempt ${ctx.attempts}`);
    return ctx;
  },
  identify: async (ctx: Context) => {
    await Promise.resolve();
    if (ctx.event.userId === 'blocked') ctx.cancel(new Error('blocked'));
    return ctx;
  },
};

const anonymise: Plugin = {
  ...enrich,
  name: 'anonymise',
  page: (ctx) => {
    ctx.event.userId = undefined;
    ctx.event.properties = undefined;
    ctx.event = { ...ctx.event, anonymousId: 'a', name: undefined };
    return ctx;
  },
};

class TracedAnalytics extends Analytics {
  override track = (message: TrackParams) => super.track({ ...message, context: { traced: true } });
}

/** As a unit test of a plugin calls it. */
export async function enriched(plugin: Plugin): Promise<string | undefined> {
  const ctx = new Context({ type: 'track', event: 'E', userId: 'u' });
  await plugin.load(Context.system(), new TracedAnalytics({ writeKey: 'wk' }));
  return (await plugin.track?.(ctx))?.event.event;
}

class AuditPlugin implements Plugin {
  readonly name = 'audit';
  readonly type = 'after';
  readonly version = '1.0.0';
  isLoaded = (): boolean => true;
  async load(_ctx: Context, instance: Analytics): Promise<void> {
    instance.on('error', console.error);
    await Promise.resolve();
  }
  track(ctx: Context): Context {
    console.log(ctx.failedDelivery()?.reason, JSON.stringify(ctx));
    return ctx;
  }
}

analytics
  .on('error', (error) => console.error(error.code, error.reason, error.ctx?.event.type))
  .on('identify', (ctx) => console.log(ctx.event.traits))
  .on('track', (ctx) => console.log(ctx.event.type))
  .once('page', (ctx) => console.log(ctx.event.name))
  .on('http_request', ({ url, method, headers, body }) => console.log(url, method, headers['Authorization'], body))
  .on('http_response', ({ status, statusText, headers, body }) => console.log(status, statusText, headers, body))
  .on('call_after_close', (event) => console.log(event.type, event.userId))
  .on('drained', () => console.log('drained'))
  .on('initialize', ({ host }) => console.log(host))
  .on('register', (names) => console.log(names.join()))
  .off('drained', () => undefined);

export async function main(): Promise<void> {
  await analytics.ready;
  await analytics.register(enrich, anonymise, new AuditPlugin());
  analytics.emit('error', { code: 'audit' });
  await analytics.deregister('enrich', 'audit');
  await new Promise((resolve) => analytics.track({ userId: 'u', event: 'E' }, resolve));
  await analytics.flush();
  await analytics.flush({ timeout: 1000 });
  await analytics.flush({ timeout: 1000, close: true });
  await analytics.closeAndFlush();
  await analytics.closeAndFlush({ timeout: 1000 });
  const version: string = analytics.VERSION;
  console.log(version);
}
