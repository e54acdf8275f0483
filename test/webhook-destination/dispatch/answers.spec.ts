import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { type Answer, RawReceiver, write } from '../../support/raw-receiver.js';
import { Relay } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const ends =
  (text: string): Answer =>
  (socket) =>
    void socket.end(text, 'latin1');

describe.each(['undici', 'axios'] as const)('With the transport %s, an answer', (transport) => {
  const cleanUp = useCleanUps();

  async function relayTo(answer: Answer, delivery: object = {}) {
    const receiver = await RawReceiver.start(answer);
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      delivery: {
        transport,
        timeout: 10_000,
        concurrency: 1,
        initialRetryDelay: 60_000,
        maxRetryDelay: 60_000,
        ...delivery,
      },
    });
    cleanUp(() => relay.stop());
    return { receiver, relay };
  }

  it.each<[what: string, answer: Answer]>([
    ['204 with a Content-Length', write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n')],
    ['204 with a Content-Length and a body', write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello')],
    ['two equal Content-Length', write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok')],
    ['two different Content-Length', write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok')],
    [
      'chunks and a Content-Length',
      write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    ],
    ['a folded header', write('HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\nContent-Length: 2\r\n\r\nok')],
    ['bare line feeds', write('HTTP/1.1 201 Created\nContent-Length: 2\n\nok')],
    ['20 KB of headers', write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`)],
    ['100 KB of headers', write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\nok`)],
    ['a header name with a blank', write('HTTP/1.1 200 OK\r\nX Name: a\r\nContent-Length: 2\r\n\r\nok')],
    ['a control character in a header', write('HTTP/1.1 200 OK\r\nX: \x01\r\nContent-Length: 2\r\n\r\nok')],
    ['an invalid chunk', write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
    ['a status line alone', ends('HTTP/1.1 200 OK\r\n')],
    ['a status alone', ends('HTTP/1.1 200')],
    ['half a head', ends('HTTP/1.1 200 OK\r\nContent-Len')],
    ['half a body', ends('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')],
  ])('with a status of 2xx delivers: %s', async (_what, answer) => {
    const { receiver, relay } = await relayTo(answer);
    await relay.track('m1', 'm2', 'm3');
    const delivered = await relay.settled('delivered', 3);
    expect(delivered.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    expect(receiver.requests).toHaveLength(3);
  });

  it('with a status of 2xx, byte by byte and cut off, delivers', async () => {
    const { relay } = await relayTo(async (socket) => {
      for (const byte of 'HTTP/1.1 200 OK\r\nX') {
        socket.write(byte);
        await sleep(1);
      }
      socket.end();
    });
    await relay.track('m1');
    await relay.settled('delivered');
  });

  it.each([
    ['503', 'HTTP/1.1 503 Down\r\nX: a\r\n b\r\nRetry-After: 7\r\n\r\n', 'temporary', 'Unexpected whitespace'],
    ['410', 'HTTP/1.1 410 Gone\nContent-Length: 0\n\n', 'permanent', 'Missing expected CR'],
  ])('with a status of %s and a head that cannot be parsed says so', async (status, answer, outcome, error) => {
    const { receiver, relay } = await relayTo(write(answer));
    await relay.track('m1');
    await waitFor(() => relay.events.length > 0);
    const [{ results }] = relay.events as [(typeof relay.events)[number]];
    expect(results).toMatchObject([{ status: Number(status), outcome, error: expect.stringContaining(error) }]);
    await waitFor(() => receiver.sockets.size === 0);
  });

  it('with a status of 503 and 20 KB of headers is read', async () => {
    const { relay } = await relayTo(
      write(`HTTP/1.1 503 Down\r\nX-Long: ${'a'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`),
    );
    await relay.track('m1');
    const [{ results }] = (await relay.settled('retry')) as [(typeof relay.events)[number]];
    expect(results).toMatchObject([{ status: 503, outcome: 'temporary' }]);
    expect(results[0]).not.toHaveProperty('error');
  });

  it.each(['SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 2000 OK\r\n\r\n', 'HTTP/1.1 OK\r\n\r\n'])(
    'without a status fails the attempt and closes the connection: %j',
    async (answer) => {
      const { receiver, relay } = await relayTo(write(answer));
      await relay.track('m1');
      const [retry] = await relay.settled('retry');
      expect(retry!.results).toMatchObject([{ outcome: 'temporary' }]);
      expect(retry!.results[0]!.error).toMatch(/^Response does not match the HTTP\/1.1 protocol/);
      expect(receiver.requests).toHaveLength(1);
      await waitFor(() => receiver.sockets.size === 0);
    },
  );

  it('with a Retry-After in a head that cannot be parsed still delays the next attempt', async () => {
    const malformed = 'HTTP/1.1 429 Slow down\r\nX: a\r\n b\r\nRetry-After: 600\r\n\r\n';
    const { relay } = await relayTo(write(malformed));
    await relay.track('m1');
    const [retry] = await relay.settled('retry');
    expect((retry as { nextAttemptAt: number }).nextAttemptAt - Date.now()).toBeGreaterThan(500_000);
  });

  it.each([
    ['a line break', '\r\n'],
    ['text', 'left over from the body'],
    ['another answer', 'HTTP/1.1 500 Unexpected\r\nContent-Length: 0\r\n\r\n'],
  ])('followed by %s leaves the next exchange unharmed', async (_what, rest) => {
    const { receiver, relay } = await relayTo((socket) => void socket.write(OK + rest));
    for (const id of ['m1', 'm2', 'm3']) {
      await relay.track(id);
      await relay.settled('delivered', Number(id[1]));
    }
    expect(relay.events.map(({ type }) => type)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(receiver.requests).toHaveLength(3);
  });

  it.each([
    ['a line break', '\r\n'],
    ['text', 'left over from the body'],
  ])('that comes after %s of the answer before is read', async (_what, rest) => {
    let last: Socket | undefined;
    const { relay } = await relayTo((socket) => {
      if (last === socket) socket.write(rest);
      last = socket;
      socket.write(OK);
    });
    await relay.track('m1', 'm2', 'm3');
    await relay.settled('delivered', 3);
    expect(relay.events.map(({ type }) => type)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it.each([
    ['closes', (socket: Socket) => void socket.end()],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
  ])('is asked for again on a new connection if the receiver %s a reused one', async (_how, drop) => {
    const used = new Set<Socket>();
    const { receiver, relay } = await relayTo((socket) => {
      if (used.has(socket)) return drop(socket);
      used.add(socket);
      socket.write(OK);
    });
    await relay.track('m1', 'm2', 'm3');
    const delivered = await relay.settled('delivered', 3);
    expect(delivered.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    expect(relay.events).toHaveLength(3);
    expect(receiver.connections).toBe(3);
  });

  it('need not be asked for twice where a receiver closes after each without saying so', async () => {
    const { receiver, relay } = await relayTo((socket) => void setImmediate(() => socket.end(OK)), { concurrency: 8 });
    const ids = Array.from({ length: 100 }, (_, index) => `m${index}`);
    await relay.track(...ids);
    const delivered = await relay.settled('delivered', ids.length);
    expect(delivered.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(relay.events).toHaveLength(ids.length);
    expect(receiver.connections).toBeGreaterThanOrEqual(ids.length);
  });

  it('is asked for once on a new connection, and once more after a reused one', async () => {
    const { receiver, relay } = await relayTo(
      (socket, index) => void (index === 0 ? socket.write(OK) : socket.destroy()),
    );
    await relay.track('m1');
    await relay.settled('delivered');
    await relay.track('m2');
    const [retry] = await relay.settled('retry');
    expect(retry).toMatchObject({ attempt: 1, results: [{ outcome: 'temporary' }] });
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.connections).toBe(2);
  });
});
