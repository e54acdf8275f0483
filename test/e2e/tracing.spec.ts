import type { Server } from 'node:http';

import { type INestApplication, Controller, Module, Post, type DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { NodeTracerProvider, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-node';
import {
  AnalyticsModule,
  type DestinationOptions,
  sqliteQueue,
  Track,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { idOf, linksOf, parentOf, traceRequests, Tracing } from '../support/tracing.js';

@Controller('orders')
class OrdersController {
  @Track('Order Completed', { userId: () => 'u1', properties: () => ({ total: 7 }) })
  @Post()
  order(): object {
    return {};
  }
}

@Module({ controllers: [OrdersController] })
class ShopModule {}

let tracing: Tracing;
beforeAll(() => {
  tracing = Tracing.start();
});
afterEach(() => tracing.reset());
afterAll(() => tracing.stop());

describe.each(platforms)('One trace from the method to the webhook, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(
    ...imports: (DynamicModule | typeof ShopModule)[]
  ): Promise<{ app: INestApplication; host: string }> {
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(createAdapter(), { logger: false });
    afterwards(() => app.close());
    traceRequests(app.getHttpServer() as Server);
    return { app, host: await listen(app) };
  }

  async function startReceiver() {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [503, 200];
    return receiver;
  }

  async function relayModule(
    { url }: Receiver,
    destination: Partial<DestinationOptions> = {},
    telemetry: ReturnType<typeof openTelemetry> | null = openTelemetry(),
  ) {
    const folder = await temporaryFolder(afterwards);
    return WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [`${url}?secret=1`], ...destination }],
      queue: sqliteQueue({ path: folder.path('relay.db') }),
      delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 50 },
      ...(telemetry && { telemetry }),
    });
  }

  /** Places an order in an application that records and forwards; resolves once both attempts are received. */
  async function orderInOneApplication(telemetry: ReturnType<typeof openTelemetry>): Promise<Receiver> {
    const receiver = await startReceiver();
    const { host } = await start(
      AnalyticsModule.forRoot({ writeKey: 'wk_shop', telemetry }),
      await relayModule(receiver, {}, telemetry),
      ShopModule,
    );

    await post(`${host}/orders`, {});

    await receiver.received(2);
    return receiver;
  }

  /** The two attempts of the message that a span recorded: one of them failed. */
  async function expectAttempts(recordedIn: string, receiver: Receiver) {
    const attempts = await tracing.named('process Webhooks', 2);
    const requests = await tracing.named('POST', 2);
    const [webhook] = await receiver.received(2);
    const common = {
      'messaging.system': 'nestjs_analytics_relay',
      'messaging.operation.name': 'process',
      'messaging.destination.name': 'Webhooks',
      'messaging.message.id': webhook!.headers['x-message-id'],
      'analytics_relay.source': 'shop',
    };
    expect(attempts.map(({ attributes }) => attributes)).toMatchObject([
      {
        ...common,
        'analytics_relay.delivery.attempt': 1,
        'analytics_relay.delivery.state': 'waiting',
        'error.type': '503',
      },
      { ...common, 'analytics_relay.delivery.attempt': 2, 'analytics_relay.delivery.state': 'delivered' },
    ]);
    expect(attempts[1]!.attributes).not.toHaveProperty('error.type');
    expect(attempts.map(({ kind }) => kind)).toEqual([SpanKind.CONSUMER, SpanKind.CONSUMER]);
    expect(attempts.map(({ status: { code } }) => code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
    expect(attempts.map(parentOf)).toEqual([undefined, undefined]);
    expect(attempts.map(linksOf)).toEqual([[recordedIn], [recordedIn]]);

    const ofUrl = {
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': receiver.port,
      'url.full': receiver.url,
    };
    expect(requests.map(({ attributes }) => attributes)).toEqual([
      { ...ofUrl, 'http.response.status_code': 503, 'error.type': '503' },
      { ...ofUrl, 'http.response.status_code': 200, 'http.request.resend_count': 1 },
    ]);
    expect(requests.map(({ kind }) => kind)).toEqual([SpanKind.CLIENT, SpanKind.CLIENT]);
    expect(requests.map(parentOf)).toEqual(attempts.map(idOf));
  }

  /** The span of the request to the controller, and of the batch that its event went with. */
  async function expectSent() {
    const [sent] = await tracing.named('send shop');
    // In two applications, the batch has a request and a span of its own.
    const server = (await tracing.named('server')).find((span) => linksOf(sent!).includes(idOf(span)))!;
    expect(linksOf(sent!)).toEqual([idOf(server)]);
    expect(parentOf(sent!)).toBeUndefined();
    expect(sent!.kind).toBe(SpanKind.CLIENT);
    expect(sent!.attributes).toMatchObject({ 'messaging.batch.message_count': 1 });
    return { sent: sent!, server };
  }

  it('in one application', async () => {
    const receiver = await orderInOneApplication(openTelemetry());
    const [enqueued] = await tracing.named('enqueue Webhooks');
    const { sent, server } = await expectSent();
    expect(parentOf(enqueued!)).toBe(idOf(sent));
    expect(enqueued!.kind).toBe(SpanKind.CLIENT);
    expect(enqueued!.attributes).toMatchObject({ 'messaging.operation.name': 'enqueue' });
    await expectAttempts(idOf(server), receiver);
  });

  it('from a span of the message itself, with createSpans', async () => {
    const receiver = await orderInOneApplication(openTelemetry({ createSpans: true }));
    const [created] = await tracing.named('create shop');
    const [server] = await tracing.named('server');
    const [sent] = await tracing.named('send shop');
    expect(parentOf(created!)).toBe(idOf(server!));
    expect(created!.kind).toBe(SpanKind.PRODUCER);
    expect(created!.attributes).toMatchObject({
      'messaging.operation.name': 'create',
      'messaging.destination.name': 'shop',
    });
    expect(linksOf(sent!)).toEqual([idOf(created!)]);
    await expectAttempts(idOf(created!), receiver);
  });

  it('as far as the sampler says, which sees the operation and the destination', async () => {
    const seen: Attributes[] = [];
    const sampler: Sampler = {
      shouldSample: (_context, _traceId, name, _kind, attributes) => {
        if (name === 'process Webhooks') seen.push(attributes);
        return { decision: SamplingDecision.NOT_RECORD };
      },
    };

    await orderInOneApplication(openTelemetry({ tracerProvider: new NodeTracerProvider({ sampler }) }));

    const attributes = {
      'messaging.system': 'nestjs_analytics_relay',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'Webhooks',
    };
    expect(seen).toEqual([attributes, attributes]);
  });

  it('across two applications, and nothing of it reaches the receiver', async () => {
    const receiver = await startReceiver();
    const relay = await start(await relayModule(receiver));
    const telemetry = openTelemetry({ source: 'shop' });
    const { host } = await start(
      AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: relay.host, flushInterval: 1, telemetry }),
      ShopModule,
    );

    await post(`${host}/orders`, {});

    await receiver.received(2);
    const { server } = await expectSent();
    await expectAttempts(idOf(server), receiver);
    for (const { headers, raw } of receiver.webhooks) {
      expect(Object.keys(headers).filter((name) => /trace|baggage/.test(name))).toEqual([]);
      expect(raw.toString()).not.toMatch(/trace/);
    }
  });

  it('through a replay, and into the receiver where the destination asks for it', async () => {
    const receiver = await startReceiver();
    receiver.statuses = [400, 200];
    const { app, host } = await start(await relayModule(receiver, { propagateTrace: true }));
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const message = {
      type: 'track',
      userId: 'u1',
      event: 'Ordered',
      context: { locale: 'de', traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=1' },
    };

    await post(`${host}/v1/batch`, { writeKey: 'wk_shop', batch: [message] });
    const relay = app.get(WebhookDestinationService);
    await tracing.named('process Webhooks');
    while ((await relay.replay({})) === 0);

    const attempts = await tracing.named('process Webhooks', 2);
    const link = `${traceId} b7ad6b7169203331`;
    expect(attempts.map(linksOf)).toEqual([[link], [link]]);
    expect(attempts[0]!.links[0]!.context.traceState!.get('vendor')).toBe('1');
    const requests = await tracing.named('POST', 2);
    expect(receiver.webhooks.map(({ headers }) => headers.traceparent)).toEqual(
      requests.map((span) => `00-${idOf(span).replace(' ', '-')}-01`),
    );
    expect(receiver.webhooks[0]!.body.context).toEqual({ locale: 'de' });
  });

  it.each([
    ['without telemetry', null, false],
    ['with attempts as links', openTelemetry(), true],
    ['with attempts as children', openTelemetry({ attempts: 'child' }), false],
  ])('but no trace that a sender posts reaches the receiver, %s', async (_how, telemetry, isPropagated) => {
    const receiver = await startReceiver();
    receiver.statuses = [200];
    const { host } = await start(await relayModule(receiver, { propagateTrace: true }, telemetry));
    const trace = (id: string) => ({ traceparent: `00-${id}-b7ad6b7169203331-01`, tracestate: 'vendor=stranger' });
    const inBody = '0af7651916cd43dd8448eb211c80319c';
    const inHeader = '1af7651916cd43dd8448eb211c80319c';
    const message = { writeKey: 'wk_shop', userId: 'u1', event: 'Ordered' };

    await post(`${host}/v1/track`, { ...message, context: trace(inBody) });
    await fetch(`${host}/v1/track`, { method: 'POST', headers: trace(inHeader), body: JSON.stringify(message) });

    for (const { headers, raw } of await receiver.received(2)) {
      expect(JSON.stringify(headers) + raw.toString()).not.toMatch(new RegExp(`stranger|${inBody}|${inHeader}`));
      expect(headers.traceparent !== undefined).toBe(isPropagated);
    }
    if (!telemetry) return;
    expect(JSON.stringify(tracing.spans.map((span) => [linksOf(span), parentOf(span)]))).toContain(inBody);
  });

  it.each([
    ['without telemetry', null],
    ['with attempts as children', openTelemetry({ attempts: 'child' })],
  ])('into the receiver, if it was recorded in the same application, %s', async (_how, telemetry) => {
    const receiver = await startReceiver();
    receiver.statuses = [200];
    const { host } = await start(
      AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
      await relayModule(receiver, { propagateTrace: true }, telemetry),
      ShopModule,
    );

    await post(`${host}/orders`, {});

    const [webhook] = await receiver.received(1);
    const [server] = await tracing.named('server');
    expect(webhook!.headers.traceparent).toContain(server!.spanContext().traceId);
  });

  it('from the request of an SDK that knows no traces, with attempts as children', async () => {
    const receiver = await startReceiver();
    const { host } = await start(await relayModule(receiver, {}, openTelemetry({ attempts: 'child' })));

    await post(`${host}/v1/track`, { writeKey: 'wk_shop', userId: 'u1', event: 'Ordered' });

    const attempts = await tracing.named('process Webhooks', 2);
    const [enqueued] = await tracing.named('enqueue Webhooks');
    const [server] = await tracing.named('server');
    expect([enqueued!, ...attempts].map(parentOf)).toEqual([idOf(server!), idOf(server!), idOf(server!)]);
    expect(attempts.flatMap(linksOf)).toEqual([]);
  });
});
