import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { hang, ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('A destination', () => {
  const cleanUp = useCleanUps();

  async function start(...args: Parameters<typeof Relay.start>): Promise<Relay> {
    const relay = await Relay.start(...args);
    cleanUp(() => relay.stop());
    return relay;
  }

  it('has requests in flight up to its concurrency, each on a connection of its own', async () => {
    const receiver = await ScriptedReceiver.start((response) => void setTimeout(() => response.end(), 20));
    cleanUp(() => receiver.stop());
    const relay = await start({ destinations: [{ urls: [receiver.url] }], delivery: { concurrency: 3 } });
    await relay.track(...ids('m', 12));
    await relay.settled('delivered', 12);
    expect(receiver.mostActive).toBe(3);
    expect(receiver.connections).toBe(3);
  });

  it('is not held up by another one that hangs', async () => {
    const hung = await ScriptedReceiver.start(hang);
    cleanUp(() => hung.stop());
    const healthy = await ScriptedReceiver.start(status(200));
    cleanUp(() => healthy.stop());
    const relay = await start({
      destinations: [
        { name: 'Hung', urls: [hung.url] },
        { name: 'Healthy', urls: [healthy.url] },
      ],
      delivery: { concurrency: 4, timeout: 60_000 },
    });
    await relay.track(...ids('m', 100));
    const delivered = await relay.settled('delivered', 100);
    expect(new Set(delivered.map(({ destination }) => destination))).toEqual(new Set(['Healthy']));
    // All of them got through while the other had not settled its first four.
    expect(hung.webhooks).toHaveLength(4);
    await hung.stop(); // or the relay would wait for it
  });

  it('is not held up by another one at the same origin that is down', async () => {
    const receiver = await ScriptedReceiver.start((response, index, request) =>
      status(request.url === '/down' ? 500 : 200)(response, index, request),
    );
    cleanUp(() => receiver.stop());
    const relay = await start({
      destinations: [
        { name: 'Down', urls: [receiver.url.replace('/hook', '/down')] },
        { name: 'Healthy', urls: [receiver.url] },
      ],
      delivery: { concurrency: 4, initialRetryDelay: 20, maxRetryDelay: 50 },
    });
    await relay.track(...ids('m', 100));
    await waitFor(() => relay.log.matching(/Down is down/).length === 1);
    await relay.track(...ids('n', 100));
    const delivered = await relay.settled('delivered', 200);
    expect(delivered.every(({ destination, attempt }) => destination === 'Healthy' && attempt === 1)).toBe(true);
    expect(relay.log.matching(/Healthy is down/)).toEqual([]);
    const { length: healthy } = receiver.webhooks.filter(({ path }) => path === '/hook');
    expect(healthy).toBe(200);
    expect((await relay.undelivered()).every(({ destination }) => destination === 'Down')).toBe(true);
  });

  it('that is down gets single probes, loses no attempt or message, and fills no log', async () => {
    let isDown = true;
    const receiver = await ScriptedReceiver.start((response, index, request) =>
      status(isDown ? 500 : 200)(response, index, request),
    );
    cleanUp(() => receiver.stop());
    const relay = await start({
      destinations: [{ urls: [receiver.url] }],
      delivery: { concurrency: 20, initialRetryDelay: 50, maxRetryDelay: 100, retryWindow: 600_000 },
    });
    await relay.track(...ids('m', 300));
    // At most 30 until it opens: ten failures, and twenty in flight. Then one request at a time.
    await waitFor(() => receiver.webhooks.length > 34);
    const probes = receiver.webhooks.slice(30);
    expect(probes[3]!.at - probes[0]!.at).toBeGreaterThanOrEqual(150);
    const attempts = (await relay.service.deliveries({}, { limit: 1_000 })).map((delivery) => delivery.attempts.length);
    expect(attempts).toHaveLength(300);
    expect(attempts.filter((count) => count === 0).length).toBeGreaterThan(250);
    expect(relay.events.every(({ type }) => type === 'retry')).toBe(true);
    expect(relay.log.matching(/Webhooks is down/)).toHaveLength(1);
    expect(relay.log.matching(/attempt \d+ failed/).length).toBeLessThanOrEqual(20);

    isDown = false;
    await relay.settled('delivered', 300);
    expect(relay.log.matching(/is up again/)).toHaveLength(1);
    const sent = receiver.webhooks.slice(-300).map(({ headers }) => headers['x-message-id']);
    expect(new Set(sent).size).toBe(300);
    expect(await relay.undelivered()).toEqual([]);
  });

  it('that is down leaves its deliveries in the queue, and takes a few for each probe', async () => {
    const receiver = await ScriptedReceiver.start(status(500));
    cleanUp(() => receiver.stop());
    const folder = await temporaryFolder(cleanUp);
    const relay = await start({
      destinations: [{ urls: [receiver.url] }],
      queue: sqliteQueue({ path: folder.path('relay.db') }),
      delivery: { concurrency: 16, initialRetryDelay: 200, maxRetryDelay: 200, retryWindow: 600_000 },
    });
    for (let index = 0; index < 10; index++) await relay.track(...ids(`m${index}-`, 200));
    // Twenty-five until it opens, then five probes.
    await waitFor(() => receiver.webhooks.length > 30);
    const deliveries = await relay.service.deliveries({}, { limit: 2_000 });
    expect(deliveries).toHaveLength(2_000);
    const { length: attempted } = deliveries.filter(({ firstAttemptAt }) => firstAttemptAt !== undefined);
    expect(attempted).toBeLessThan(400);
  });

  it('that answers 404 during a deployment, where that is retried, loses nothing and is not taken to be down', async () => {
    let isDeploying = true;
    const receiver = await ScriptedReceiver.start((response, index, request) =>
      status(isDeploying ? 404 : 200)(response, index, request),
    );
    cleanUp(() => receiver.stop());
    const relay = await start({
      destinations: [{ urls: [receiver.url], retryOn: 'any-failure' }],
      delivery: { concurrency: 20, initialRetryDelay: 100, maxRetryDelay: 400, retryWindow: 600_000 },
    });
    await relay.track(...ids('m', 100));
    await relay.settled('retry', 300);
    isDeploying = false;
    const end = Date.now();
    await relay.settled('delivered', 100);
    // No delivery waits for more than its own delay.
    expect(Date.now() - end).toBeLessThan(2_000);
    expect(relay.events.filter(({ type }) => type === 'dead')).toEqual([]);
    expect(relay.log.matching(/is down/)).toEqual([]);
    expect(await relay.undelivered()).toEqual([]);
  });

  it('that refuses one kind of message again and again, where that is retried, gets all others at once', async () => {
    const receiver = await ScriptedReceiver.start((response, index, request) => {
      const isRefused = (request.headers['x-message-id'] as string).startsWith('refused');
      status(isRefused ? 422 : 200)(response, index, request);
    });
    cleanUp(() => receiver.stop());
    const relay = await start({
      destinations: [{ urls: [receiver.url], retryOn: 'any-failure' }],
      delivery: { concurrency: 4, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    await relay.track(...ids('refused', 100), ...ids('m', 100));
    await relay.settled('delivered', 100);
    const waiting = await relay.undelivered();
    expect(waiting.map(({ state, attempts }) => [state, attempts.length])).toEqual(waiting.map(() => ['waiting', 1]));
    expect(waiting).toHaveLength(100);
  });

  it('that stays down gives its deliveries up when their window is over, each after an attempt', async () => {
    const receiver = await ScriptedReceiver.start(status(503));
    cleanUp(() => receiver.stop());
    const relay = await start({
      destinations: [{ urls: [receiver.url] }],
      delivery: { concurrency: 16, initialRetryDelay: 50, maxRetryDelay: 200, retryWindow: 1_000 },
    });
    await relay.track(...ids('m', 200));
    await relay.settled('dead', 200);
    const dead = await relay.service.deliveries({ state: 'dead' }, { limit: 1_000 });
    expect(dead).toHaveLength(200);
    for (const { reason, attempts } of dead) {
      expect(reason).toBe('the retry window is over');
      expect(attempts.length).toBeGreaterThan(0);
    }
    const recorded = dead.reduce((sum, { attempts }) => sum + attempts.length, 0);
    expect(recorded).toBe(receiver.webhooks.length);
    // One of each, and the attempts before the circuit opened and of its probes.
    expect(recorded).toBeLessThan(260);
    expect(relay.log.matching(/Webhooks|suppressed/).length).toBeLessThan(25);
  });

  it('whose certificate has expired is retried, and gets everything once it is renewed', async () => {
    const certificates = createCertificates();
    const expired = await ScriptedReceiver.start(status(200), certificates.expired);
    cleanUp(() => expired.stop());
    const relay = await start({
      destinations: [{ urls: [expired.url] }],
      delivery: { concurrency: 5, ca: certificates.ca, initialRetryDelay: 100, maxRetryDelay: 100 },
    });
    await relay.track(...ids('m', 100));
    await relay.settled('retry', 12);
    expect(expired.webhooks).toEqual([]);
    expired.renew(certificates.trusted);
    await relay.settled('delivered', 100);
    expect(relay.events.filter(({ type }) => type === 'dead')).toEqual([]);
  });
});
