import { type AddressInfo, createServer, type Socket } from 'node:net';

import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { beforeAll, describe, expect, it } from 'vitest';

import { AxiosTransport, BoundedTransport } from '../../../lib/webhook-destination/transport/application.transport.js';
import { ConnectionPool } from '../../../lib/webhook-destination/transport/connection-pool.js';
import { guardedConnector } from '../../../lib/webhook-destination/transport/guarded.connector.js';
import { NetworkPolicy } from '../../../lib/webhook-destination/transport/network.policy.js';
import { SocketBudget } from '../../../lib/webhook-destination/transport/socket-budget.js';
import { UndiciTransport } from '../../../lib/webhook-destination/transport/undici.transport.js';
import { classifyError } from '../../../lib/webhook-destination/dispatch/outcome.util.js';
import {
  MAX_RESPONSE_BYTES,
  type TargetRequest,
  type TargetTransport,
  type WebhookRequest,
  type WebhookResponse,
  type WebhookTransport,
} from '../../../lib/webhook-destination/transport/webhook-transport.interface.js';
import { toWebhookTarget } from '../../../lib/webhook-destination/transport/webhook-target.js';
import { type Certificates, createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { postThrough } from '../../support/pool.js';
import {
  drip,
  hang,
  refusingUrl,
  reset,
  type Script,
  ScriptedReceiver,
  status,
} from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

interface Settings {
  allowedNetworks?: string[];
  ca?: string;
  connections?: number;
  timeout?: number;
}

/** The exchanges with one receiver. */
interface Exchanges {
  post: (request: TargetRequest) => Promise<WebhookResponse>;
  close: () => Promise<void>;
}

type Connector = ReturnType<typeof guardedConnector>;
type Create = (url: string, connect: Connector) => TargetTransport;

/** As an application may write one: the relay's own connections are not used. */
class FetchTransport implements WebhookTransport {
  async post({ url, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      let size = 0;
      for await (const chunk of response.body ?? []) {
        if ((size += (chunk as Uint8Array).length) > MAX_RESPONSE_BYTES) break;
      }
      return { status: response.status, headers: Object.fromEntries(response.headers) };
    } catch (error) {
      throw (error as Error).cause ?? error;
    }
  }
}

/** `guarded`: over the relay's connections, which keep the network policy and `delivery.ca`. */
const transports: { name: string; guarded: boolean; create: Create }[] = [
  {
    name: 'undici',
    guarded: true,
    create: (url, connect) => new UndiciTransport(toWebhookTarget(url), connect),
  },
  {
    name: 'axios',
    guarded: true,
    create: (url, connect) => {
      const connection = new UndiciTransport(toWebhookTarget(url), connect);
      const transport = new AxiosTransport(new HttpService(axios.create()), connection);
      return new BoundedTransport(transport, url, () => connection.close());
    },
  },
  {
    name: "application's",
    guarded: false,
    create: (url) => new BoundedTransport(new FetchTransport(), url),
  },
];

describe.each(transports)('The $name transport', ({ guarded, create }) => {
  const cleanUp = useCleanUps();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = createCertificates();
  });

  async function receive(script: Script, certificate?: Certificates['trusted']): Promise<ScriptedReceiver> {
    const receiver = await ScriptedReceiver.start(script, certificate);
    cleanUp(() => receiver.stop());
    return receiver;
  }

  function open(url: string, settings: Settings = {}): Exchanges {
    const { allowedNetworks = LOOPBACK, ca, connections = 4, timeout = 2_000 } = settings;
    const connect = guardedConnector(new NetworkPolicy(allowedNetworks, []), timeout, ca);
    const pool = new ConnectionPool(
      new SocketBudget(),
      connect,
      (connector) => create(url, connector),
      connections,
      timeout,
    );
    cleanUp(() => pool.close());
    return { post: (request) => postThrough(pool, () => request), close: () => pool.close() };
  }

  const request = { headers: { 'Content-Type': 'application/json', 'X-Test': 'yes' }, body: Buffer.from('{"a":"é"}') };

  /** The error of an exchange, its class, and how long it took. */
  async function failure(transport: Exchanges): Promise<{ error: Error; outcome: string; duration: number }> {
    const start = Date.now();
    try {
      await transport.post(request);
    } catch (error) {
      return { error: error as Error, outcome: classifyError(error), duration: Date.now() - start };
    }
    throw new Error('the exchange succeeded');
  }

  it('posts the bytes it is given, with their length and the headers', async () => {
    const receiver = await receive(status(204));
    expect(await open(`${receiver.url}?a=1&b=%20`).post(request)).toMatchObject({ status: 204 });
    const [webhook] = receiver.webhooks;
    expect(webhook).toMatchObject({ method: 'POST', path: '/hook?a=1&b=%20', raw: request.body });
    expect(webhook!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-test': 'yes',
      'content-length': '10',
    });
    expect(webhook!.headers['transfer-encoding']).toBeUndefined();
  });

  it.each([200, 201, 299, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503])('resolves with %i', async (code) => {
    const receiver = await receive(status(code, { 'Retry-After': '7' }));
    expect(await open(receiver.url).post(request)).toMatchObject({ status: code, headers: { 'retry-after': '7' } });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (code) => {
    const elsewhere = await receive(status(200));
    const receiver = await receive(status(code, { Location: elsewhere.url }));
    expect((await open(receiver.url).post(request)).status).toBe(code);
    expect(elsewhere.connections).toBe(0);
  });

  it.each([
    ['hangs', hang],
    ['drips for ever', drip],
  ])('ends the exchange at the deadline when a receiver %s, and drops the connection', async (_how, script) => {
    const receiver = await receive(script);
    const { error, outcome, duration } = await failure(open(receiver.url, { timeout: 150 }));
    expect(error.message).toBe('timeout: no complete answer within 150 ms');
    expect(outcome).toBe('temporary');
    expect(duration).toBeGreaterThanOrEqual(145);
    expect(duration).toBeLessThan(1_000);
    await waitFor(() => receiver.active === 0);
  });

  it('counts the wait for a connection to the deadline', async () => {
    const receiver = await receive(hang);
    const transport = open(receiver.url, { connections: 1, timeout: 150 });
    // One after the other, they would take longer than that.
    const failures = await Promise.all(Array.from({ length: 10 }, () => failure(transport)));
    for (const { error, duration } of failures) {
      expect(error.message).toMatch(/^timeout/);
      expect(duration).toBeLessThan(1_000);
    }
  });

  it('ends the exchange at the deadline when the TLS handshake is not answered', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined).resume()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const { error, outcome, duration } = await failure(open(url, { timeout: 150 }));
    expect(error.message).toMatch(/^timeout/);
    expect(outcome).toBe('temporary');
    expect(duration).toBeGreaterThanOrEqual(145);
    expect(duration).toBeLessThan(1_000);
    expect(sockets).toHaveLength(1);
  });

  it('answers in time when a slow receiver does', async () => {
    const receiver = await receive((response) => void setTimeout(() => response.end(), 200));
    expect((await open(receiver.url, { timeout: 2_000 }).post(request)).status).toBe(200);
  });

  it('reads an answer to a bound and drops its connection', async () => {
    const receiver = await receive((response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    expect((await open(receiver.url).post(request)).status).toBe(200);
    await waitFor(() => receiver.active === 0);
  });

  it('fails for now when the connection is refused', async () => {
    const { error, outcome } = await failure(open(await refusingUrl()));
    // The words of an application's transport are its own.
    if (guarded) expect(error.message).toContain('ECONNREFUSED');
    expect(outcome).toBe('temporary');
  });

  it('fails for now when the connection is reset', async () => {
    const receiver = await receive(reset);
    expect((await failure(open(receiver.url))).outcome).toBe('temporary');
    expect(receiver.webhooks).toHaveLength(1);
  });

  it.each([200, 503])('resolves with %i when the answer breaks off', async (code) => {
    const receiver = await receive((response) => {
      response.writeHead(code, { 'Content-Length': 100 }).write('half');
      setTimeout(() => response.destroy(), 20);
    });
    const exchanges = open(receiver.url);
    // An application's transport decides for itself.
    if (guarded) expect((await exchanges.post(request)).status).toBe(code);
    else expect((await failure(exchanges)).outcome).toBe('temporary');
  });

  it('fails for now when the name is not known', async () => {
    const { error, outcome } = await failure(open('http://receiver.invalid/hook'));
    expect(error.message).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(outcome).toBe('temporary');
  });

  it.each([
    ['selfSigned', true, 'permanent'],
    ['wrongName', true, 'permanent'],
    ['expired', true, 'temporary'],
    ['notYetValid', true, 'temporary'],
    ['trusted', false, 'temporary'],
    ['chain', false, 'temporary'],
  ] as const)(
    'sends nothing to a receiver whose certificate is not trusted (%s, authority known: %s): %s',
    async (kind, isKnown, expected) => {
      const receiver = await receive(status(200), certificates[kind]);
      const ca = isKnown ? certificates.ca : undefined;
      // An application's transport does not know the authority.
      const outcome = guarded || kind === 'selfSigned' ? expected : 'temporary';
      expect((await failure(open(receiver.url, { ca }))).outcome).toBe(outcome);
      expect(receiver.webhooks).toHaveLength(0);
    },
  );

  it('rejects what is under way when it is closed', async () => {
    const receiver = await receive(hang);
    const transport = open(receiver.url, { timeout: 60_000 });
    const ended = failure(transport);
    await waitFor(() => receiver.webhooks.length === 1);
    await transport.close();
    expect((await ended).outcome).toBe('temporary');
    await waitFor(() => receiver.active === 0);
  });

  it('sends nothing once it is closed, and rejects at once what waits for a connection', async () => {
    const receiver = await receive(hang);
    const transport = open(receiver.url, { connections: 1, timeout: 60_000 });
    const posts = Array.from({ length: 5 }, () => failure(transport));
    await waitFor(() => receiver.webhooks.length === 1);
    await transport.close();
    for (const { outcome } of await Promise.all(posts)) expect(outcome).toBe('temporary');
    expect((await failure(transport)).outcome).toBe('temporary');
    await waitFor(() => receiver.active === 0);
    expect(receiver.webhooks).toHaveLength(1);
    if (guarded) expect(receiver.connections).toBe(1);
  });

  if (!guarded) return;

  it('keeps its connections and never opens more than it may', async () => {
    const receiver = await receive((response) => void setTimeout(() => response.end('done'), 10));
    const transport = open(receiver.url, { connections: 3 });
    await Promise.all(Array.from({ length: 12 }, () => transport.post(request)));
    expect(receiver.webhooks).toHaveLength(12);
    expect(receiver.connections).toBe(3);
  });

  it('trusts a private authority of delivery.ca', async () => {
    const receiver = await receive(status(200), certificates.trusted);
    const byAddress = open(receiver.url, { ca: certificates.ca });
    const byName = open(receiver.url.replace('127.0.0.1', 'localhost'), { ca: certificates.ca });
    expect((await byAddress.post(request)).status).toBe(200);
    expect((await byName.post(request)).status).toBe(200);
  });

  it.each(['127.0.0.1', '0x7f000001', '2130706433', '017700000001', '127.1', '[::ffff:127.0.0.1]', 'localhost'])(
    'does not connect to a private address, written as %s',
    async (host) => {
      const receiver = await receive(status(200));
      const transport = open(receiver.url.replace('127.0.0.1', host), { allowedNetworks: ['10.0.0.0/8'] });
      const { error, outcome } = await failure(transport);
      expect(error.message).toMatch(/is not public/);
      expect(outcome).toBe('permanent');
      expect(receiver.webhooks).toHaveLength(0);
    },
  );
});
