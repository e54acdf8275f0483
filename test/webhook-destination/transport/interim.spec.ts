import { setImmediate as turn } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { AnswerReader } from '../../../lib/webhook-destination/transport/answer.reader.js';
import { type Certificate, type Certificates, createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { type Answer, RawReceiver, write } from '../../support/raw-receiver.js';
import { Relay } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Blank: \r\n\r\n';

describe('Interim answers', () => {
  const cleanUp = useCleanUps();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = createCertificates();
  });

  async function relayTo(answer: Answer, delivery: object = {}, certificate?: Certificate) {
    const receiver = await RawReceiver.start(answer, certificate);
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      delivery: { initialRetryDelay: 20, maxRetryDelay: 20, concurrency: 1, ca: certificates.ca, ...delivery },
    });
    cleanUp(() => relay.stop());
    return { receiver, relay };
  }

  async function deliversOnce(answer: Answer, certificate?: Certificate): Promise<void> {
    const { receiver, relay } = await relayTo(answer, {}, certificate);
    const ids = ['m1', 'm2', 'm3'];
    await relay.track(...ids);
    await relay.settled('delivered', ids.length);
    expect(relay.events.map(({ type }) => type)).toEqual(ids.map(() => 'delivered'));
    expect(receiver.requests).toHaveLength(ids.length);
    expect(receiver.connections).toBe(1);
  }

  it.each([
    ['one 100', CONTINUE],
    ['one 100 with headers', 'HTTP/1.1 100 Continue\r\nDate: now\r\n\r\n'],
    ['one 100 of HTTP/1.0, without a reason', 'HTTP/1.0 100\r\n\r\n'],
    ['one 100 with bare line feeds', 'HTTP/1.1 100 Continue\nX: y\n\n'],
    ['one 102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['early hints', HINTS],
    ['one 199', 'HTTP/1.1 199 Whatever\r\n\r\n'],
    ['several in a row', HINTS + CONTINUE + CONTINUE + HINTS + CONTINUE],
    ['many', CONTINUE.repeat(500)],
  ])('are passed over, and the connection is kept: %s', async (_what, interim) => {
    await deliversOnce(write(interim + FINAL));
  });

  it('are passed over where TLS is spoken', async () => {
    await deliversOnce(write(HINTS + CONTINUE + FINAL), certificates.trusted);
  });

  it('are passed over byte by byte', async () => {
    await deliversOnce(async (socket) => {
      for (const byte of CONTINUE + HINTS + CONTINUE + FINAL) {
        socket.write(byte, 'latin1');
        await turn();
      }
    });
  });

  it('are passed over at every point at which the bytes may be split', () => {
    const bytes = Buffer.from(CONTINUE + HINTS + CONTINUE + FINAL);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const reader = new AnswerReader();
        const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        const left = Buffer.concat(parts.map((part) => reader.take(part))).toString();
        if (left !== FINAL) throw new Error(`split at ${first} and ${second}: ${left}`);
      }
    }
  });

  it('are not looked for in a body', async () => {
    const body = CONTINUE + 'H' + CONTINUE;
    await deliversOnce(async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      await turn();
      socket.write(body.slice(0, CONTINUE.length));
      await turn();
      socket.write(body.slice(CONTINUE.length));
    });
  });

  it.each(['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'HTTP/2 100\r\n\r\n', '1'])(
    'are told from what fails the attempt: %j',
    async (answer) => {
      const { relay } = await relayTo((socket, index) => void socket.end(index === 0 ? answer : FINAL));
      await relay.track('m1');
      expect(await relay.settled('retry')).toMatchObject([{ results: [{ outcome: 'temporary' }] }]);
      await relay.settled('delivered');
    },
  );

  it.each([
    ['faster than their bound', HINTS.repeat(100), 'too many interim (1xx) responses', 60_000],
    ['one at a time', CONTINUE, 'timeout: no complete answer within 300 ms', 300],
    ['with a head that does not end', 'HTTP/1.1 100 Continue\r\nX: y', 'timeout', 300],
  ])('that do not end fail the attempt and lose the connection: %s', async (_how, part, error, timeout) => {
    const { receiver, relay } = await relayTo(
      (socket) => {
        const timer = setInterval(() => socket.write(part), 5);
        socket.once('close', () => clearInterval(timer));
      },
      { timeout, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    );
    await relay.track('m1');
    const [retry] = await relay.settled('retry');
    expect(retry!.results[0]!.error).toContain(error);
    await waitFor(() => receiver.sockets.size === 0);
  });
});
