import { createConnection, type Socket } from 'node:net';

import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(platforms)('An upload on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  let socket: Socket;
  let answer: string;

  /** Sends the head of a request and the first bytes of its body, and waits until the endpoint reads it. */
  async function upload(length: number, start: string): Promise<void> {
    const { host } = await startRelayApp(afterwards, createAdapter());
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
    answer = '';
    socket = createConnection(Number(new URL(host).port), '127.0.0.1');
    afterwards(() => {
      vi.useRealTimers();
      socket.destroy();
    });
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.write(`POST /v1/track HTTP/1.1\r\nHost: relay\r\nContent-Length: ${length}\r\n\r\n${start}`);
    while (vi.getTimerCount() === 0) await turn();
  }

  /** Lets the time pass, and what it causes happen. */
  async function pass(seconds: number): Promise<void> {
    vi.advanceTimersByTime(seconds * 1_000);
    for (let turns = 0; turns < 50; turns++) await turn();
  }

  async function answered(): Promise<string> {
    while (!answer.includes('}')) await turn();
    return answer;
  }

  it('may pause for 19 s', async () => {
    const body = JSON.stringify({ writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' });
    await upload(body.length, body.slice(0, 20));
    await pass(19);
    expect(answer).toBe('');
    vi.useRealTimers(); // the delivery has timers of its own
    socket.write(body.slice(20));
    expect(await answered()).toContain('200 OK');
  });

  it('that stands still is answered after 20 s with 503, which SDKs retry', async () => {
    await upload(1_000, '{"writeKey":"wk_shop",');
    await pass(19.9);
    expect(answer).toBe('');
    await pass(0.2);
    const text = await answered();
    expect(text).toContain('503 Service Unavailable');
    expect(text).toContain('Retry-After: 5');
    expect(text).toContain('"code":"body_timeout"');
    expect(text).toContain('"field":"body"');
  });

  it('gets a second more for each 2,000 bytes', async () => {
    await upload(500_000, ' '.repeat(40_000));
    await pass(20.1);
    for (let turns = 0; turns < 200; turns++) await turn();
    await pass(19.5);
    expect(answer).toBe('');
    await pass(1);
    expect(await answered()).toContain('503 Service Unavailable');
  });
});
