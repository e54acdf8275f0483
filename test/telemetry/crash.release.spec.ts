import { SpanKind } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { onFastify } from '../support/platforms.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { RelayProcess, type RelayProcessOptions } from '../support/relay.process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

/** A span as the application prints it. */
interface PrintedSpan {
  name: string;
  kind: SpanKind;
  traceId: string;
  spanId: string;
  parent?: string;
  linked: [traceId: string, spanId: string][];
  attributes: Record<string, unknown>;
}

const spansOf = ({ lines }: RelayProcess) =>
  lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as PrintedSpan);

/** Resolves with the spans of a name once there are as many. */
async function named(process: RelayProcess, name: string, count = 1): Promise<PrintedSpan[]> {
  const found = () => spansOf(process).filter((span) => span.name === name);
  await waitFor(
    () => found().length >= count,
    () => `${count} spans ${name}, got ${process.lines.join('\n')}`,
  );
  return found();
}

describe.each(onFastify)('a trace that its process does not survive, on $platform', ({ platform }) => {
  const afterwards = useCleanUps();

  async function start(options: RelayProcessOptions): Promise<RelayProcess> {
    const process = await RelayProcess.start({ ...options, platform }, 'traced');
    afterwards(() => process.kill());
    return process;
  }

  /** Options of a relay whose receiver does not listen yet, and what starts that: it refuses one webhook. */
  async function prepare() {
    const folder = await temporaryFolder(afterwards);
    const gone = await Receiver.start();
    const { port, url } = gone;
    await gone.stop();
    const startReceiver = async () => {
      const receiver = await Receiver.start(port);
      afterwards(() => receiver.stop());
      receiver.statuses = [503, 200];
      return receiver;
    };
    return { options: { database: folder.path('relay.db'), urls: [url] }, startReceiver };
  }

  /** The span of the request that recorded the event, and of the batch that it went with. */
  async function expectSent(recorder: RelayProcess) {
    const [sent] = await named(recorder, 'send shop');
    const request = spansOf(recorder).find(
      ({ kind, spanId }) => kind === SpanKind.SERVER && spanId === sent!.linked[0]?.[1],
    )!;
    expect(sent!.linked).toEqual([[request.traceId, request.spanId]]);
    return { sent: sent!, request };
  }

  /** The last two attempts, by the process after the crash: the first of them failed. */
  async function expectAttempts(process: RelayProcess, request: PrintedSpan, receiver: Receiver) {
    const attempts = await named(process, 'process Webhooks', 2);
    const [webhook] = await receiver.received(2);
    const first = attempts[0]!.attributes['analytics_relay.delivery.attempt'] as number;
    const common = { 'messaging.message.id': webhook!.headers['x-message-id'], 'analytics_relay.source': 'shop' };
    expect(attempts.map(({ attributes }) => attributes)).toMatchObject([
      { ...common, 'analytics_relay.delivery.state': 'waiting', 'error.type': '503' },
      {
        ...common,
        'analytics_relay.delivery.state': 'delivered',
        'analytics_relay.delivery.attempt': first + 1,
      },
    ]);
    const link = [request.traceId, request.spanId];
    expect(attempts.map(({ linked }) => linked)).toEqual([[link], [link]]);
    expect(new Set(attempts.map(({ traceId }) => traceId)).size).toBe(2);
    const requests = spansOf(process).filter(({ name, kind }) => name === 'POST' && kind === SpanKind.CLIENT);
    expect(requests.map(({ parent }) => parent)).toEqual(attempts.map(({ spanId }) => spanId));
  }

  it('goes on with the attempts of the next one, in one application', async () => {
    const { options, startReceiver } = await prepare();
    const first = await start({ ...options, record: true });
    expect((await post(`${first.host}/orders`, {})).status).toBe(201);
    const [enqueued] = await named(first, 'enqueue Webhooks');
    const { sent, request } = await expectSent(first);
    expect([enqueued!.traceId, enqueued!.parent]).toEqual([sent.traceId, sent.spanId]);
    await first.kill();

    const receiver = await startReceiver();
    await expectAttempts(await start({ ...options, record: true }), request, receiver);
  });

  it('goes on with the attempts of the next one, across two applications', async () => {
    const { options, startReceiver } = await prepare();
    const first = await start(options);
    const shop = await start({ ...options, record: true, host: first.host });
    expect((await post(`${shop.host}/orders`, {})).status).toBe(201);
    const { sent, request } = await expectSent(shop);
    const [enqueued] = await named(first, 'enqueue Webhooks');
    // The request between the two is part of the batch's trace.
    await waitFor(() => spansOf(first).some(({ spanId }) => spanId === enqueued!.parent));
    const received = spansOf(first).find(({ spanId }) => spanId === enqueued!.parent)!;
    const posted = spansOf(shop).find(({ spanId }) => spanId === received.parent)!;
    expect([received.kind, posted.kind]).toEqual([SpanKind.SERVER, SpanKind.CLIENT]);
    expect(posted.parent).toBe(sent.spanId);
    expect(enqueued!.traceId).toBe(sent.traceId);
    await first.kill();

    const receiver = await startReceiver();
    await expectAttempts(await start(options), request, receiver);
  });

  it('goes on with the attempts of the next one, from the request of an SDK that knows no traces', async () => {
    const { options, startReceiver } = await prepare();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const first = await start(options);
    const headers = {
      'Content-Type': 'application/json',
      Authorization: `Basic ${btoa('wk_shop:')}`,
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    };
    const body = JSON.stringify({ userId: 'u1', event: 'Ordered' });
    const answer = await fetch(`${first.host}/v1/track`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    const [enqueued] = await named(first, 'enqueue Webhooks');
    const request = { ...enqueued!, traceId, spanId: enqueued!.parent! };
    expect(enqueued!.traceId).toBe(traceId);
    await first.kill();

    const receiver = await startReceiver();
    await expectAttempts(await start(options), request, receiver);
  });
});
