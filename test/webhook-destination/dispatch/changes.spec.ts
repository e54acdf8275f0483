import type { ServerResponse } from 'node:http';

import { type DeliveryQueueFactory, memoryQueue, sqliteQueue, verifyStandardWebhook } from 'nestjs-analytics-relay';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import type { PooledRequest } from '../../../lib/webhook-destination/transport/connection-pool.js';
import { toDelivery } from '../../../lib/webhook-destination/queue/delivery.factory.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { createLoop } from '../../support/destination-loop.js';
import { newDelivery } from '../../support/new-delivery.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const cleanUp = useCleanUps();

async function receive(script: Script): Promise<ScriptedReceiver> {
  const receiver = await ScriptedReceiver.start(script);
  cleanUp(() => receiver.stop());
  return receiver;
}

async function start(options: Parameters<typeof Relay.start>[0] = {}): Promise<Relay> {
  const relay = await Relay.start({ registry: 'store', ...options });
  cleanUp(() => relay.stop());
  return relay;
}

/** A receiver that answers when it is told to. */
async function heldBack(): Promise<{ receiver: ScriptedReceiver; answer: (code: number) => void }> {
  const held: ServerResponse[] = [];
  const receiver = await receive((response) => void held.push(response));
  return { receiver, answer: (code) => held.splice(0).forEach((response) => response.writeHead(code).end()) };
}

const requests = (receiver: ScriptedReceiver, count: number) => waitFor(() => receiver.webhooks.length >= count);

describe('A change of a destination', () => {
  it('does not renew its rate limit', async () => {
    const receiver = await receive(status(200));
    const other = await receive(status(200));
    const relay = await start();
    const { destinations } = relay.service;
    await destinations.create({ name: 'Limited', urls: [receiver.url], rateLimit: { requests: 1, per: 3_600_000 } });
    await destinations.create({ name: 'Other', urls: [other.url] });
    await relay.track('m0', 'm1', 'm2');
    await requests(receiver, 1);
    for (const retryOn of ['spec', 'any-failure'] as const) {
      await destinations.update('Limited', { retryOn });
      await destinations.pause('Limited');
      await destinations.resume('Limited');
      await destinations.rotateSecret('Limited');
    }
    await relay.track('m3');
    await requests(other, 4);
    expect(receiver.webhooks).toHaveLength(1);

    // The request before the change counts towards a higher limit.
    await destinations.update('Limited', { rateLimit: { requests: 3, per: 3_600_000 } });
    await requests(receiver, 3);
    await relay.track('m4');
    await requests(other, 5);
    expect(receiver.webhooks).toHaveLength(3);
  });

  it('lets the requests to all its URLs end that are in progress', async () => {
    const fast = await receive(status(200));
    const { receiver: slow, answer } = await heldBack();
    const relay = await start();
    await relay.service.destinations.create({ name: 'Both', urls: [fast.url, slow.url] });
    await relay.track('m0');
    await relay.settled('delivered');
    await requests(slow, 1);
    await relay.service.destinations.update('Both', { retryOn: 'any-failure' });
    await relay.track('m1');
    await relay.settled('delivered', 2);
    await requests(slow, 2);
    expect(slow.sockets.size).toBe(2);
    answer(200);
    await waitFor(() => slow.active === 0);
    await waitFor(() => slow.sockets.size === 1); // that of the earlier form is closed now
  });

  it('keeps connections and circuit where it changes only what is routed there', async () => {
    const receiver = await receive(status(200));
    const relay = await start();
    const { destinations } = relay.service;
    await destinations.create({ name: 'Kept', urls: [receiver.url] });
    await relay.track('m0');
    await relay.settled('delivered');
    await destinations.update('Kept', { metadata: { plan: 'gold' }, events: ['Order*'] });
    await relay.track('m1');
    await relay.settled('delivered', 2);
    expect(receiver.connections).toBe(1);
    await destinations.update('Kept', { headers: { 'X-Plan': 'gold' } });
    await relay.track('m2');
    await relay.settled('delivered', 3);
    expect(receiver.webhooks.map(({ headers }) => headers['x-plan'])).toEqual([undefined, undefined, 'gold']);
  });
});

describe('A request that waits for a connection', () => {
  type Change = (relay: Relay) => Promise<unknown>;

  /** One request to the slow URL is in progress, and one waits for its connection. */
  async function wait(fast: Script) {
    const { receiver: slow, answer } = await heldBack();
    const other = await receive(fast);
    const relay = await start();
    const urls = [other.url, slow.url];
    const { sharedSecret } = await relay.service.destinations.create({ name: 'Both', urls, concurrency: 1 });
    await relay.track('m0');
    await relay.settled('delivered');
    await requests(slow, 1);
    await relay.track('m1');
    await requests(other, 2);
    return { relay, other, slow, answer, secret: sharedSecret! };
  }

  it.each<[string, Change]>([
    ['removed', ({ service }) => service.destinations.remove('Both')],
    ['paused', ({ service }) => service.destinations.pause('Both')],
    ['given another secret', ({ service }) => service.destinations.rotateSecret('Both', { overlap: 0 })],
  ])('is not made once its destination is %s', async (_change, change) => {
    const { relay, slow, answer } = await wait(status(200));
    await relay.settled('delivered', 2);
    await change(relay);
    answer(200);
    await waitFor(() => slow.sockets.size === 0);
    expect(slow.webhooks).toHaveLength(1);
    expect((await relay.service.deliveries({})).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  /** The other URL has its request, and answers it once the change is made. */
  async function refuseAfter(change: Change) {
    let refuse: () => void = () => undefined;
    const refusing: Script = (response) => void (refuse = () => response.writeHead(404).end());
    const waiting = await wait(sequence(status(200), refusing));
    await change(waiting.relay);
    refuse();
    return waiting;
  }

  const results = async ({ service }: Relay) => {
    const [{ state, reason, attempts }] = (await service.deliveries({ messageId: 'm1' })) as [
      Awaited<ReturnType<typeof service.deliveries>>[number],
    ];
    return {
      state,
      reason,
      attempts: attempts.map((attempt) => attempt.results.map(({ url, status }) => [url, status])),
    };
  };

  it('is made later, without a failure of its URL, if another URL refused the message', async () => {
    const { relay, other, slow, answer } = await refuseAfter(({ service }) => service.destinations.pause('Both'));
    const { url } = other;
    await waitFor(async () => (await results(relay)).attempts.length > 0);
    expect(await results(relay)).toEqual({ state: 'waiting', reason: undefined, attempts: [[[url, 404]]] });
    answer(200);
    await waitFor(() => slow.sockets.size === 0);
    await relay.service.destinations.resume('Both');
    await requests(slow, 2);
    answer(200);
    await relay.settled('delivered', 2);
    expect((await results(relay)).attempts).toEqual([[[url, 404]], [[slow.url, 200]]]);
    expect([other.webhooks.length, slow.webhooks.length]).toEqual([2, 2]);
  });

  it('is dropped with its delivery, whose other URL refused the message, if its destination is removed', async () => {
    const { relay, other, slow, answer } = await refuseAfter(({ service }) => service.destinations.remove('Both'));
    await relay.settled('dead');
    const attempts = [[[other.url, 404]]];
    expect(await results(relay)).toEqual({ state: 'dead', reason: 'destination removed', attempts });
    answer(200);
    await waitFor(() => slow.sockets.size === 0);
    expect(slow.webhooks).toHaveLength(1);
  });

  it('is signed when it is made', async () => {
    const { other, slow, answer, secret } = await wait(status(200));
    const timestampOf = ({ webhooks }: ScriptedReceiver) => Number(webhooks[1]!.headers['webhook-timestamp']);
    await waitFor(() => Math.floor(Date.now() / 1_000) > timestampOf(other));
    answer(200);
    await requests(slow, 2);
    expect(timestampOf(slow)).toBeGreaterThan(timestampOf(other));
    const { raw, headers } = slow.webhooks[1]!;
    expect(verifyStandardWebhook(raw, headers, secret)).toBe(true);
    answer(200);
  });
});

it('A pause is measured by the time of the queue, as retry windows are', async () => {
  const queue = memoryQueue()();
  const hour = 3_600_000;
  queue.now = () => Date.now() - hour;
  const relay = await start({ queue: () => queue });
  await relay.service.destinations.create({ name: 'Hook', urls: ['https://customer.example/hook'] });
  await relay.service.destinations.pause('Hook');
  const [record] = await queue.registry.read(0);
  const [{ from }] = (JSON.parse(record!.document!) as { pauses: [{ from: number }] }).pauses;
  expect(from).toBeLessThanOrEqual(Date.now() - hour);
  expect(from).toBeGreaterThan(Date.now() - 2 * hour);
});

it('A test shows the answer of each URL', async () => {
  const fast = await receive(status(200));
  const { receiver: slow, answer } = await heldBack();
  const relay = await start();
  await relay.service.destinations.create({ name: 'Both', urls: [fast.url, slow.url] });
  const tested = relay.service.destinations.test('Both');
  await requests(fast, 1);
  await requests(slow, 1);
  answer(500);
  expect((await tested).results).toMatchObject([
    { url: fast.url, status: 200, outcome: 'success' },
    { url: slow.url, status: 500, outcome: 'temporary' },
  ]);
});

it('A destination that was stopped while it was down probes no more', async () => {
  /** Gives a request its connection, and then its answer. */
  const begins: (() => void)[] = [];
  const post = (request: PooledRequest) =>
    begins.push(() => {
      try {
        request.prepare(0);
        request.answer({ status: 500 });
      } catch (error) {
        request.fail(error);
      }
    });
  let now = Date.now();
  const clock = { now: () => now, jumps: [] };
  const loop = createLoop(post, { clock, options: { initialRetryDelay: 10, maxRetryDelay: 10 } });
  loop.start({ consume: () => NEVER });
  const handle = (id: string) =>
    new Promise<unknown>((resolve) => {
      const settle = (settled: unknown) => {
        resolve(settled);
        return Promise.resolve(true);
      };
      loop.handle({ delivery: toDelivery(newDelivery(id), id), isWithdrawn: false, settle });
    });
  const handled = Array.from({ length: 12 }, (_, index) => handle(`m${index}`));
  for (const begin of begins.splice(0, 11)) begin();
  await waitFor(() => loop.isDown);
  now += 1_000; // a probe is due
  loop.stop();
  for (const begin of begins) begin();
  const outcomes = await Promise.all(handled);
  expect(outcomes[11]).toBeUndefined(); // put back
});

function itEndsWhatIsUnderWay(create: () => Promise<DeliveryQueueFactory>): void {
  it.each([
    ['at once', () => Promise.resolve()],
    ['after a change', (relay: Relay) => relay.service.destinations.update('Hook', { retryOn: 'any-failure' })],
    ['after a pause', (relay: Relay) => relay.service.destinations.pause('Hook')],
  ])('ends what is under way, %s', async (_when, change) => {
    const { receiver, answer } = await heldBack();
    const relay = await start({ queue: await create() });
    await relay.service.destinations.create({ name: 'Hook', urls: [receiver.url] });
    await relay.track('m0', 'm1');
    await requests(receiver, 2);
    await change(relay);
    await relay.service.destinations.remove('Hook');
    answer(500);
    await relay.settled('dead', 2);
    const deliveries = await relay.service.deliveries({});
    expect(deliveries.map(({ state, reason, attempts }) => [state, reason, attempts.length])).toEqual([
      ['dead', 'destination removed', 1],
      ['dead', 'destination removed', 1],
    ]);
    expect(receiver.webhooks).toHaveLength(2);
  });

  it('ends what was taken from the queue and not sent, of several at once', async () => {
    const receiver = await receive((response) => void setTimeout(() => response.end(), 50));
    const relay = await start({ queue: await create() });
    const { destinations } = relay.service;
    for (const name of ['One', 'Other']) await destinations.create({ name, urls: [receiver.url] });
    await relay.track(...Array.from({ length: 400 }, (_, index) => `m${index}`));
    await requests(receiver, 100);
    await Promise.all([destinations.remove('One'), destinations.remove('Other')]);
    const ended = async () =>
      (await relay.service.stats()).every(({ state }) => state === 'delivered' || state === 'dead');
    await waitFor(ended, () => 'all to end, before the store takes a lease for lost', 15_000);
  });
}

describe('The removal of a destination with the queue in memory', () => {
  itEndsWhatIsUnderWay(() => Promise.resolve(memoryQueue()));
});

describe('The removal of a destination with SQLite', () => {
  itEndsWhatIsUnderWay(async () => {
    const { path, remove } = await temporaryFolder();
    cleanUp(remove);
    return sqliteQueue({ path: path('relay.db') });
  });
});

await describeOnEach([redisStore, postgresStore], ({ name, create }) => {
  describe(`The removal of a destination with ${name}`, () => {
    itEndsWhatIsUnderWay(() => {
      const { options, remove } = create();
      cleanUp(remove);
      return Promise.resolve(sharedQueue(options));
    });
  });
});
