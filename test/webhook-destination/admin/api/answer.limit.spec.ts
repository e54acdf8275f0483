import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { AnswerLimit } from '../../../../lib/webhook-destination/http/answer.limit.js';
import { type Afterwards, useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { waitFor } from '../../../support/wait-for.js';
import { READ_TOKEN, signIn, startApi, TOKEN, track } from './support.js';

/** Posts on a connection of its own, whose answer is not read. */
function postUnread(afterwards: Afterwards, port: string, body: string, sent = body, route = 'explain') {
  const socket = connect(Number(port), '127.0.0.1').pause();
  afterwards(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `POST /relay/api/${route} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${READ_TOKEN}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${sent}`,
  );
  return socket;
}

describe.each(platforms)('Answers of the admin API on $platform', ({ platform, createAdapter }) => {
  const cleanUp = useCleanUps();

  it('that nobody reads do not fill the memory', async () => {
    const execArgv = ['--max-old-space-size=192'];
    const child = fork('test/apps/explained.app.mjs', [platform, TOKEN, READ_TOKEN], { execArgv, stdio: 'ignore' });
    cleanUp(() => child.kill('SIGKILL'));
    const [port] = (await once(child, 'message')) as [string];
    const body = JSON.stringify({ source: 'shop', message: track('m1', { properties: { text: '"'.repeat(15_000) } }) });
    for (let count = 0; count < 60; count++) postUnread(cleanUp, port, body);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const { status } = await fetch(`http://127.0.0.1:${port}/relay/api/overview`, { headers });
    expect([status, child.exitCode, child.signalCode]).toEqual([200, null, null]);
  });

  it('are refused to a caller with 16 requests in progress, and not to others', async () => {
    const { json, host } = await startApi(cleanUp, createAdapter(), { bodyParser: false });
    const { port } = new URL(host);
    const sockets = Array.from({ length: 16 }, () => postUnread(cleanUp, port, '{"source":"shop"}', '{'));
    const ask = (token: string) => json('GET', 'session', { token });
    await waitFor(async () => (await ask(READ_TOKEN)).status === 429);
    const { answer, response } = await ask(READ_TOKEN);
    expect([answer.code, response.headers.get('retry-after')]).toEqual(['too_many_in_progress', '1']);
    expect((await ask(TOKEN)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await waitFor(async () => (await ask(READ_TOKEN)).status === 200);
  });

  it('leave room for sign-in and sign-out, however many strangers sign in', async () => {
    const api = await startApi(cleanUp, createAdapter(), { bodyParser: false });
    const { port } = new URL(api.host);
    const requests = vi.spyOn(IncomingMessage.prototype, 'on');
    cleanUp(() => requests.mockRestore());
    for (let count = 0; count < 80; count++) postUnread(cleanUp, port, '{"token":"x"}', '{', 'session');
    await waitFor(() => requests.mock.calls.filter(([event]) => event === 'close').length >= 80);
    const { asked } = await signIn(api);
    expect((await api.json('GET', 'session', asked())).status).toBe(200);
    expect((await api.json('DELETE', 'session', asked())).status).toBe(200);
    expect((await api.json('GET', 'session', asked())).status).toBe(401);
    const { status, answer } = await api.json('POST', 'session', { token: null, body: { token: 'x'.repeat(9_000) } });
    expect([status, answer.code]).toEqual([413, 'body_too_large']);
  });

  it('count while they are unread, also those to requests whose bodies have not arrived', async () => {
    const { json, host, relay } = await startApi(cleanUp, createAdapter(), { bodyParser: false });
    for (let batch = 0; batch < 20; batch++) {
      const events = Array.from({ length: 10 }, (_, index) =>
        track(`${batch}-${index}`, { event: 'e'.repeat(30_000) }),
      );
      await relay.accept('wk_shop', events);
    }
    const list = () => json('GET', 'deliveries?limit=500', { token: READ_TOKEN });
    const { port } = new URL(host);
    const head = `GET /relay/api/deliveries?limit=500 HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${READ_TOKEN}`;
    // A busy machine answers in smaller portions.
    let answered = await list();
    for (let count = 0; count < 12 && answered.status === 200; count++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      cleanUp(() => socket.destroy());
      socket.write(`${head}\r\nContent-Length: 5\r\n\r\n`);
      await once(socket, 'readable'); // its first bytes, and no more
      answered = await list();
    }
    expect(answered).toMatchObject({ status: 429, answer: { code: 'too_many_in_progress' } });
  });

  it('are refused to callers who may only read before they are to others, from however many addresses', async () => {
    const { json, host } = await startApi(cleanUp, createAdapter(), {
      bodyParser: false,
      options: { ingest: { clientAddress: ({ headers }) => headers['x-client'] as string | undefined } },
    });
    const { port } = new URL(host);
    const socketsOf = (client: number) =>
      Array.from({ length: 16 }, () =>
        connect(Number(port), '127.0.0.1')
          .on('error', () => undefined)
          .on('connect', function (this: ReturnType<typeof connect>) {
            cleanUp(() => this.destroy());
            this.write(
              `POST /relay/api/explain HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${READ_TOKEN}\r\n` +
                `X-Client: 192.0.2.${client}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
            );
          }),
      );
    for (let client = 1; client <= 3; client++) socketsOf(client);
    await waitFor(async () => (await json('GET', 'session', { token: READ_TOKEN })).status === 429);
    expect((await json('GET', 'session')).status).toBe(200);
  });

  it('count while they are unread, and have a maximum size', async () => {
    let made = 0;
    const transform = (body: Record<string, unknown>) => {
      made++;
      return { text: 'x'.repeat((body.properties as { size: number }).size) };
    };
    const { json, host } = await startApi(cleanUp, createAdapter(), {
      destination: { transform },
      options: { queue: memoryQueue() },
    });
    const { port } = new URL(host);
    const bodyOf = (size: number) => ({ source: 'shop', message: track('m1', { properties: { size } }) });
    const explain = (size: number) => json('POST', 'explain', { token: READ_TOKEN, body: bodyOf(size) });
    expect(await explain(9_000_000)).toMatchObject({ status: 400, answer: { code: 'answer_too_large' } });
    const sockets = [1, 2].map(() => postUnread(cleanUp, port, JSON.stringify(bodyOf(8_000_000))));
    await waitFor(() => made === 3);
    expect(await explain(8_000_000)).toMatchObject({ status: 429, answer: { code: 'too_many_in_progress' } });
    for (const socket of sockets) socket.destroy();
    await waitFor(async () => (await explain(8_000_000)).status === 200);
  });
});

describe('AnswerLimit', () => {
  const cleanUp = useCleanUps();

  it('ends a connection whose answer is not read within 30 s', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    cleanUp(() => server.close());
    await once(server, 'listening');
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    reader.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: relay\r\n\r\n');
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const limit = new AnswerLimit();
    const caller = { key: 'reader', access: 'read' } as const;
    const shares = Array.from({ length: 16 }, () => limit.begin(caller));
    expect(() => limit.begin(caller)).toThrow('in progress');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanUp(() => vi.useRealTimers());
    response.end(Buffer.alloc(64 * 1024 * 1024)); // more than the kernel takes
    limit.end(shares[0]!, request, response);
    vi.advanceTimersByTime(29_999);
    expect(request.socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(request.socket.destroyed).toBe(true);
    expect(limit.begin(caller)).toBeDefined();
  });
});
