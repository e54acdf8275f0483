import { AnalyticsModule, AnalyticsService } from 'nestjs-analytics-relay';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { idOf, linksOf, parentOf, Tracing } from '../support/tracing.js';

let tracing: Tracing;
beforeAll(() => {
  tracing = Tracing.start();
});
afterEach(() => tracing.reset());
afterAll(() => tracing.stop());

const afterwards = useCleanUps();

async function startReceiver() {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  return receiver;
}

async function startRelay(options: Parameters<typeof Relay.start>[0]) {
  const relay = await Relay.start({ telemetry: openTelemetry(), ...options });
  afterwards(() => relay.stop());
  return relay;
}

it('each URL has a span, even if its request begins after the first success has ended the attempt', async () => {
  const { url } = await startReceiver();
  const urls = [`${url}/1`, `${url}/2`];
  const relay = await startRelay({ destinations: [{ urls }], delivery: { maxSockets: 1 } });

  await relay.track('m1');

  const requests = await tracing.named('POST', 2);
  const [attempt] = await tracing.named('process Webhooks');
  expect(requests.map(({ attributes }) => attributes['url.full'])).toEqual(urls);
  expect(requests.map(parentOf)).toEqual([idOf(attempt!), idOf(attempt!)]);
});

it('a client with `disable` has none', async () => {
  const telemetry = openTelemetry({ createSpans: true });
  const client = AnalyticsModule.forRoot({ writeKey: 'wk_shop', disable: true, telemetry });
  const { app } = await startRelay({ imports: [client] });
  const analytics = app.get(AnalyticsService);

  analytics.track({ userId: 'u1', event: 'Ordered' });
  await analytics.flush();

  expect(tracing.spans).toEqual([]);
});

const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
const link = ids.replace('-', ' ');

it.each<[string, object, string[]]>([
  ['a valid trace', { traceparent: `00-${ids}-01`, tracestate: 'vendor=1' }, [link]],
  ['a trace of a later version', { traceparent: `cc-${ids}-01-more` }, [link]],
  ['an unrecorded trace', { traceparent: `00-${ids}-00` }, []],
  ['an invalid traceparent', { traceparent: `ff-${ids}-01`, tracestate: 'vendor=1' }, []],
  ['a traceparent of version 00 that is too long', { traceparent: `00-${ids}-01-more` }, []],
  ['a traceparent that is no text', { traceparent: [`00-${ids}-01`] }, []],
  ['a tracestate alone', { tracestate: 'vendor=1' }, []],
])('%s in `context` does not reach the receiver', async (_kind, fields, links) => {
  const receiver = await startReceiver();
  const relay = await startRelay({ destinations: [{ urls: [receiver.url] }] });
  const message = { type: 'track', userId: 'u1', event: 'Ordered', context: { locale: 'de', ...fields } };

  await relay.service.accept('wk_shop', [message]);

  const [webhook] = await receiver.received(1);
  expect(webhook!.body.context).toEqual({ locale: 'de' });
  const [attempt] = await tracing.named('process Webhooks');
  expect(linksOf(attempt!)).toEqual(links);
});
