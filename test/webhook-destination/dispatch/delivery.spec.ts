import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

import { type DeliveryEvent, verifySignature, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { beforeAll, describe, expect, it } from 'vitest';

import { type Certificate, type Certificates, createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import {
  drip,
  hang,
  refusingUrl,
  reset,
  type Script,
  ScriptedReceiver,
  sequence,
  status,
} from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const SOON = { initialRetryDelay: 20, maxRetryDelay: 40 };

describe.each(['undici', 'axios'] as const)('Deliveries through %s', (transport) => {
  const cleanUp = useCleanUps();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = createCertificates();
  });

  async function receive(script: Script, certificate?: Certificate): Promise<ScriptedReceiver> {
    const receiver = await ScriptedReceiver.start(script, certificate);
    cleanUp(() => receiver.stop());
    return receiver;
  }

  async function relay(urls: string[], options: Partial<WebhookDestinationModuleOptions> = {}): Promise<Relay> {
    const started = await Relay.start({
      destinations: [{ urls, sharedSecret: 'shh' }],
      ...options,
      delivery: { transport, ...SOON, ...options.delivery },
    });
    cleanUp(() => started.stop());
    return started;
  }

  const outcomes = (event: DeliveryEvent | undefined) => event?.results.map(({ outcome }) => outcome);

  it('are settled by a 2xx, and then gone from the queue', async () => {
    const receiver = await receive(status(202));
    const started = await relay([receiver.url]);
    await started.track('m1', 'm2');
    await started.settled('delivered', 2);
    expect(receiver.webhooks).toHaveLength(2);
    expect(await started.undelivered()).toEqual([]);
  });

  it.each([500, 502, 503, 504, 599, 408, 425, 429])('are sent again after a %i: the same bytes', async (code) => {
    const receiver = await receive(sequence(status(code), status(200)));
    const started = await relay([receiver.url]);
    await started.track('m1');
    const [retry] = await started.settled('retry');
    const [delivered] = await started.settled('delivered');
    expect(retry).toMatchObject({ attempt: 1, results: [{ status: code, outcome: 'temporary' }] });
    expect(delivered).toMatchObject({ attempt: 2, messageId: 'm1', destination: 'Webhooks', source: 'shop' });
    const [first, second] = receiver.webhooks;
    expect(second!.raw).toEqual(first!.raw);
    for (const { raw, headers } of [first!, second!]) {
      expect(headers['x-message-id']).toBe('m1');
      expect(verifySignature(raw, headers['x-signature'] as string, 'shh')).toBe(true);
    }
    expect(await started.undelivered()).toEqual([]);
  });

  it.each([300, 301, 302, 307, 308, 400, 401, 403, 404, 410, 422])(
    'are given up after a %i, and kept',
    async (code) => {
      const elsewhere = await receive(status(200));
      const receiver = await receive(status(code, { Location: elsewhere.url }));
      const started = await relay([receiver.url]);
      await started.track('m1');
      expect(await started.settled('dead')).toMatchObject([{ attempt: 1, reason: 'every URL failed permanently' }]);
      const [dead] = await started.service.deliveries({ state: 'dead' });
      expect(dead).toMatchObject({
        messageId: 'm1',
        attempts: [{ results: [{ status: code, outcome: 'permanent', url: receiver.url }] }],
        body: receiver.webhooks[0]!.raw.toString(),
      });
      expect(elsewhere.connections).toBe(0);
      expect(receiver.webhooks).toHaveLength(1);
    },
  );

  it.each([300, 302, 308, 400, 401, 404, 410, 422])(
    'are sent again after a %i where any failure is retried, and never follow it',
    async (code) => {
      const elsewhere = await receive(status(200));
      const receiver = await receive(sequence(status(code, { Location: elsewhere.url }), status(200)));
      const started = await relay([receiver.url], { delivery: { retryOn: 'any-failure' } });
      await started.track('m1');
      expect(await started.settled('delivered')).toMatchObject([{ attempt: 2 }]);
      expect(started.events).toMatchObject([
        { type: 'retry', results: [{ status: code, outcome: 'temporary' }] },
        { type: 'delivered' },
      ]);
      expect(receiver.webhooks[1]!.raw).toEqual(receiver.webhooks[0]!.raw);
      expect(elsewhere.connections).toBe(0);
    },
  );

  it('are retried as their destination says, or else as delivery says', async () => {
    const missing = () => receive(sequence(status(404), status(200)));
    const [any, spec, inherited] = [await missing(), await missing(), await missing()];
    const started = await relay([], {
      destinations: [
        { name: 'Any', urls: [any.url], retryOn: 'any-failure' },
        { name: 'Spec', urls: [spec.url], retryOn: 'spec' },
        { name: 'Inherited', urls: [inherited.url], retryOn: undefined },
      ],
      delivery: { retryOn: 'any-failure' },
    });
    await started.track('m1');
    const delivered = await started.settled('delivered', 2);
    expect(delivered.map(({ destination }) => destination).sort()).toEqual(['Any', 'Inherited']);
    expect(await started.settled('dead')).toMatchObject([{ destination: 'Spec', attempt: 1 }]);
  });

  it('are given up for their certificate, whatever answers are retried', async () => {
    const receiver = await receive(status(200), certificates.selfSigned);
    const started = await relay([receiver.url], { delivery: { retryOn: 'any-failure' } });
    await started.track('m1');
    expect(outcomes((await started.settled('dead'))[0])).toEqual(['permanent']);
    expect(receiver.webhooks).toHaveLength(0);
  });

  it('log a timeout and are sent again, be the receiver hung or dripping', async () => {
    const hung = await receive(sequence(hang, status(200)));
    const dripping = await receive(sequence(drip, status(200)));
    const started = await relay([], {
      destinations: [
        { name: 'Hung', urls: [hung.url] },
        { name: 'Dripping', urls: [dripping.url] },
      ],
      delivery: { timeout: 100 },
    });
    await started.track('m1');
    await started.settled('delivered', 2);
    for (const retry of await started.settled('retry', 2)) {
      expect(retry.results).toMatchObject([
        { outcome: 'temporary', error: 'timeout: no complete answer within 100 ms' },
      ]);
      expect(retry.results[0]!.duration).toBeGreaterThanOrEqual(95);
    }
    expect(started.log.matching(/^warn .*"m1".*attempt 1 failed.*timeout: .*next attempt at 20/)).toHaveLength(2);
  });

  it('wait for a slow receiver', async () => {
    const receiver = await receive((response) => void setTimeout(() => response.end('ok'), 150));
    const started = await relay([receiver.url], { delivery: { timeout: 5_000 } });
    await started.track('m1');
    expect(await started.settled('delivered')).toMatchObject([{ attempt: 1 }]);
  });

  it('are sent again when the connection is refused or reset', async () => {
    const receiver = await receive(sequence(reset, status(200)));
    const started = await relay([], {
      destinations: [
        { name: 'Resetting', urls: [receiver.url] },
        { name: 'Refusing', urls: [await refusingUrl()] },
      ],
    });
    await started.track('m1');
    await started.settled('delivered');
    for (const { results } of await started.settled('retry', 2)) {
      expect(results).toMatchObject([{ outcome: 'temporary', error: expect.stringMatching(/./) }]);
      expect(results[0]!.status).toBeUndefined();
    }
  });

  it('are sent again when the connection is reset as the TLS handshake ends', async () => {
    const receiver = await receive(status(200), certificates.trusted);
    const balancer = createServer((socket) => {
      const upstream = connect(Number(new URL(receiver.url).port), '127.0.0.1');
      for (const each of [socket, upstream]) each.on('error', () => undefined);
      socket.pipe(upstream);
      upstream.once('data', (flight: Buffer) => {
        socket.write(flight, () => {
          socket.resetAndDestroy();
          upstream.destroy();
        });
      });
    }).listen(0, '127.0.0.1');
    cleanUp(() => void balancer.close());
    await once(balancer, 'listening');
    const url = `https://127.0.0.1:${(balancer.address() as AddressInfo).port}/`;
    const started = await relay([url], { delivery: { ca: certificates.ca, concurrency: 1 } });
    await started.track('m1');
    // Whether the reset comes before or after the end of the handshake is up to the system.
    const retries = await started.settled('retry', 20);
    expect(new Set(retries.map(({ results }) => results[0]!.outcome))).toEqual(new Set(['temporary']));
  });

  it('are given up, with nothing sent, when the certificate is self-signed', async () => {
    const receiver = await receive(status(200), certificates.selfSigned);
    const started = await relay([receiver.url]);
    await started.track('m1');
    const [dead] = await started.settled('dead');
    const error = expect.stringMatching(/self.signed certificate; to trust it, set delivery\.ca$/);
    expect(dead!.results).toMatchObject([{ outcome: 'permanent', error }]);
    expect(receiver.webhooks).toHaveLength(0);
    expect(started.log.matching(/^error .*self.signed/)).toHaveLength(1);
  });

  it.each<[string, (ca: string) => string | Buffer | (string | Buffer)[]]>([
    ['a string', (ca) => ca],
    ['a buffer, as it is read from a file', (ca) => Buffer.from(ca)],
    ['a list', (ca) => [Buffer.from(ca)]],
  ])('reach a receiver whose certificate a private authority vouches for, given as %s', async (_case, given) => {
    const receiver = await receive(status(200), certificates.trusted);
    const started = await relay([receiver.url], { delivery: { ca: given(certificates.ca) } });
    await started.track('m1');
    expect(outcomes((await started.settled('delivered'))[0])).toEqual(['success']);
  });

  it('name the option in the error of a certificate that a private authority vouches for', async () => {
    const receiver = await receive(status(200), certificates.trusted);
    const started = await relay([receiver.url]);
    await started.track('m1');
    const [failed] = await started.settled('retry');
    expect(failed!.results[0]!.error).toMatch(/certificate; to trust it, set delivery\.ca$/);
  });

  it('go to all URLs side by side; the first success settles them, and the others are not tried again', async () => {
    const failing = await receive(status(500));
    const hung = await receive(hang);
    const gone = await receive(status(410));
    const good = await receive((response) => {
      const areAnswered = () => failing.webhooks.length === 1 && gone.webhooks.length === 1;
      void waitFor(areAnswered).then(() => setTimeout(() => response.end(), 100));
    });
    const started = await relay([failing.url, hung.url, good.url, gone.url], { delivery: { timeout: 1_000 } });
    await started.track('m1');
    const [delivered] = await started.settled('delivered');
    // The hung one is still out: it did not hold the delivery up.
    expect(outcomes(delivered)?.sort()).toEqual(['permanent', 'success', 'temporary']);
    expect(hung.active).toBe(1);
    await waitFor(() => hung.active === 0);
    for (const receiver of [failing, hung, good, gone]) expect(receiver.webhooks).toHaveLength(1);
    expect(started.events).toHaveLength(1);
  });

  it('are tried again at the URLs that may still take them, and only there', async () => {
    const gone = await receive(status(404));
    const failing = await receive(sequence(status(500), status(503), status(200)));
    const started = await relay([gone.url, failing.url]);
    await started.track('m1');
    expect(await started.settled('delivered')).toMatchObject([{ attempt: 3 }]);
    expect(gone.webhooks).toHaveLength(1);
    expect(failing.webhooks).toHaveLength(3);
  });

  it('are given up once each URL has failed permanently, at whichever attempt', async () => {
    const gone = await receive(status(404));
    const failing = await receive(sequence(status(500), status(400)));
    const started = await relay([gone.url, failing.url]);
    await started.track('m1');
    expect(await started.settled('dead')).toMatchObject([{ attempt: 2 }]);
    expect(gone.webhooks).toHaveLength(1);
    const [dead] = await started.service.deliveries({ state: 'dead' });
    expect(dead!.attempts.map(({ results }) => results.length)).toEqual([2, 1]);
  });

  it('wait as long as a receiver asks for', async () => {
    const receiver = await receive(sequence(status(503, { 'Retry-After': '1' }), status(200)));
    const started = await relay([receiver.url]);
    await started.track('m1');
    await started.settled('delivered');
    const [first, second] = receiver.webhooks;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
  });

  it('are sent again when they are replayed', async () => {
    const receiver = await receive(sequence(status(404), status(404), status(200)));
    const started = await relay([receiver.url]);
    await started.track('m1');
    await started.settled('dead');
    const [{ id } = { id: '' }] = await started.service.deliveries({ messageId: 'm1' });
    expect(await started.service.replay(id)).toBe(1);
    await started.settled('dead', 2);
    expect(await started.service.replay({ state: 'dead', destination: 'Webhooks' })).toBe(1);
    expect(await started.settled('delivered')).toMatchObject([{ attempt: 3 }]);
    expect(await started.undelivered()).toEqual([]);
    expect(await started.service.replay(id)).toBe(0);
  });

  it('show no secret of their URL or destination in events, records or log', async () => {
    const receiver = await receive(sequence(status(500), status(400)));
    const url = receiver.url.replace('//', '//user:pa55word@') + '?key=t0psecret#frag';
    const started = await relay([url]);
    await started.track('m1');
    const [dead] = await started.settled('dead');
    const records = await started.service.deliveries();
    expect(dead!.results[0]!.url).toBe(receiver.url);
    const shown = JSON.stringify([started.events, records, started.log.lines]);
    for (const secret of ['pa55word', 't0psecret', 'shh', 'wk_shop']) expect(shown).not.toContain(secret);
    expect(receiver.webhooks[0]).toMatchObject({
      path: '/hook?key=t0psecret',
      headers: { authorization: `Basic ${Buffer.from('user:pa55word').toString('base64')}` },
    });
  });
});
