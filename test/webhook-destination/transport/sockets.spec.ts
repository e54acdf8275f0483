import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import type { buildConnector } from 'undici';
import { describe, expect, it, vi } from 'vitest';

import { ConnectionPool } from '../../../lib/webhook-destination/transport/connection-pool.js';
import { SocketBudget } from '../../../lib/webhook-destination/transport/socket-budget.js';
import type { WebhookResponse } from '../../../lib/webhook-destination/transport/webhook-transport.interface.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { postThrough } from '../../support/pool.js';
import { Relay } from '../../support/relay.js';
import { hang, type Script, ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** As many loopback addresses, so that each is a receiver of its own. */
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`);

interface SocketReport {
  mostSockets: number;
  left: number;
  delivered: number;
  faults: string[];
  logged: string[];
}

describe('The connections of a process', () => {
  const cleanUp = useCleanUps();

  async function receive(script: Script): Promise<ScriptedReceiver> {
    const receiver = await ScriptedReceiver.start(script, undefined, '0.0.0.0');
    cleanUp(() => receiver.stop());
    return receiver;
  }

  async function start(...args: Parameters<typeof Relay.start>): Promise<Relay> {
    const relay = await Relay.start(...args);
    cleanUp(() => relay.stop());
    return relay;
  }

  /** Runs `test/apps/sockets.app.mjs` in a process that may open 1,024 files. */
  async function run(options: object): Promise<SocketReport> {
    const command = 'ulimit -n 1024; exec "$0" test/apps/sockets.app.mjs "$1"';
    const child = spawn('bash', ['-c', command, process.execPath, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    cleanUp(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) throw new Error(`the process ended with ${code ?? signal}: ${output}`);
    return JSON.parse(output) as SocketReport;
  }

  const destinationsAt = (port: number, count: number) =>
    addresses(count).map((address) => ({ name: address, urls: [`http://${address}:${port}/hook`] }));

  it.each(['undici', 'axios'] as const)(
    'stay within three quarters of the file limit, with a backlog for 1,000 destinations (%s)',
    async (transport) => {
      const { port } = await receive((response) => void setTimeout(() => response.end(), 20));
      const report = await run({
        destinations: destinationsAt(port, 1_000),
        messages: 2,
        delivery: { allowedNetworks: ['localhost'], transport, maxSockets: 4_096, timeout: 30_000 },
      });
      expect(report).toMatchObject({ delivered: 2_000, faults: [], left: 0 });
      expect(report.mostSockets).toBeLessThanOrEqual(768);
      expect(report.mostSockets).toBeGreaterThan(500);
      expect(report.logged).toContain(
        'delivery.maxSockets is 4096, but at most 768 connections are opened: three quarters of the 1024 files that ' +
          'this process may open (ulimit -n)',
      );
    },
    60_000,
  );

  it('wait for room without using up the timeout', async () => {
    const receiver = await receive((response) => void setTimeout(() => response.end(), 100));
    const relay = await start({
      destinations: destinationsAt(receiver.port, 12),
      delivery: { maxSockets: 1, timeout: 800 },
    });
    await relay.track('m1');
    const delivered = await relay.settled('delivered', 12);
    expect(receiver.mostActive).toBe(1);
    for (const { attempt, results } of delivered) {
      expect(attempt).toBe(1);
      expect(results[0]!.duration).toBeLessThan(800);
    }
  });

  it('are shared by a backlog of thousands and a destination with one message', async () => {
    const busy = await receive((response) => void setTimeout(() => response.end(), 5));
    const quiet = await receive(status(200));
    const relay = await start({
      destinations: [
        { name: 'Busy', urls: [busy.url] },
        { name: 'Quiet', urls: [quiet.url], types: ['page'] },
      ],
      delivery: { maxSockets: 10 },
    });
    await relay.track(...ids('m', 3_000));
    await relay.settled('delivered', 100);
    const before = relay.events.length;
    await relay.service.accept('wk_shop', [{ type: 'page', userId: 'u1', messageId: 'page' }]);
    await waitFor(() => relay.events.some(({ destination }) => destination === 'Quiet'));
    const position = relay.events.findIndex(({ destination }) => destination === 'Quiet');
    expect(position - before).toBeLessThan(100);
    expect(busy.mostActive).toBeGreaterThan(4);
    expect(busy.mostActive).toBeLessThan(10);
  });

  it('are not all taken by receivers that hang', async () => {
    const hung = await receive(hang);
    const healthy = await receive(status(200));
    const relay = await start({
      destinations: [
        ...destinationsAt(hung.port, 3),
        { name: 'Healthy', urls: [`http://127.0.0.1:${healthy.port}/hook`], types: ['page'] },
      ],
      delivery: { maxSockets: 20, timeout: 30_000 },
    });
    await relay.track(...ids('m', 200));
    await waitFor(() => hung.active >= 14);
    await relay.service.accept('wk_shop', [{ type: 'page', userId: 'u1', messageId: 'page' }]);
    await relay.settled('delivered');
    // No request to those that hang has ended.
    expect(relay.events.map(({ destination }) => destination)).toEqual(['Healthy']);
    expect(hung.mostActive).toBeLessThan(20);
    // Each of those that hang has some.
    expect(new Set([...hung.sockets].map(({ localAddress }) => localAddress)).size).toBe(3);
  });

  it('are as many as `concurrency`, though no receiver has answered', async () => {
    const hung = await receive(hang);
    const relay = await start({ destinations: [{ urls: [hung.url] }], delivery: { concurrency: 16, timeout: 30_000 } });
    await relay.track(...ids('m', 20));
    await waitFor(() => hung.active === 16);
  });

  it('become more also after a test with fake timers, which never fired', async () => {
    const hung = await receive(hang);
    const options = { destinations: [{ urls: [hung.url] }], delivery: { concurrency: 16, timeout: 30_000 } };
    const before = await start(options);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanUp(() => vi.useRealTimers());
    await before.track(...ids('m', 4));
    while (hung.active === 0) await new Promise((resolve) => setImmediate(resolve));
    const setAt = performance.now();
    vi.useRealTimers();
    await waitFor(() => performance.now() - setAt > 1_000); // until the timer counts as lost
    const relay = await start(options);
    await relay.track(...ids('later', 20));
    await waitFor(() => hung.active >= 16);
  });

  it('do not wait for connections of a destination that went down meanwhile', async () => {
    const down = await receive(hang);
    const relay = await start({
      destinations: [{ urls: [down.url] }],
      delivery: { maxSockets: 2, timeout: 50, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    await relay.track(...ids('m', 64));
    await waitFor(() => relay.log.matching(/is down/).length === 1);
    await waitFor(async () => (await relay.undelivered()).every(({ state }) => state !== 'delivering'));
    expect(down.webhooks.length).toBeLessThan(15);
  });

  it('close the one used least recently for one that is needed', async () => {
    const receiver = await receive(status(200));
    const relay = await start({
      destinations: destinationsAt(receiver.port, 8).map((destination, index) => ({
        ...destination,
        types: index < 4 ? ['track' as const] : ['page' as const],
      })),
      delivery: { maxSockets: 4 },
    });
    await relay.track('m1');
    await relay.settled('delivered', 4);
    const first = [...receiver.sockets];
    expect(first).toHaveLength(4);
    await relay.service.accept('wk_shop', [{ type: 'page', userId: 'u1', messageId: 'page' }]);
    await relay.settled('delivered', 8);
    await waitFor(() => receiver.sockets.size <= 4);
    expect(first.filter((socket) => receiver.sockets.has(socket))).toEqual([]);
  });

  it('close one of a URL that has several, before the last one of another', async () => {
    const types = ['page', 'track', 'screen', 'identify'] as const;
    // The two tracks are answered together, so each has a connection.
    const tracks: ServerResponse[] = [];
    const receiver = await receive((response, index) => {
      if (receiver.webhooks[index]!.body.type !== 'track') return void response.end();
      tracks.push(response);
      if (tracks.length === 2) tracks.forEach((track) => track.end());
    });
    const relay = await start({
      destinations: destinationsAt(receiver.port, 4).map((options, index) => ({ ...options, types: [types[index]!] })),
      delivery: { maxSockets: 4 },
    });
    const open = () =>
      addresses(4).map((at) => [...receiver.sockets].filter(({ localAddress }) => localAddress === at).length);
    await relay.service.accept('wk_shop', [{ type: 'page', userId: 'u1', messageId: 'page' }]);
    await relay.settled('delivered', 1);
    await relay.track('m1', 'm2');
    await relay.settled('delivered', 3);
    await relay.service.accept('wk_shop', [{ type: 'screen', userId: 'u1', messageId: 'screen' }]);
    await relay.settled('delivered', 4);
    expect(open()).toEqual([1, 2, 1, 0]);
    await relay.service.accept('wk_shop', [{ type: 'identify', userId: 'u1', messageId: 'identify' }]);
    await relay.settled('delivered', 5);
    await waitFor(() => receiver.sockets.size === 4);
    expect(open()).toEqual([1, 1, 1, 1]);
  });

  it('close when a destination is idle, and are opened again', async () => {
    const receiver = await ScriptedReceiver.start(status(200, { 'Keep-Alive': 'timeout=2' }));
    cleanUp(() => receiver.stop());
    const relay = await start({ destinations: [{ urls: [receiver.url] }] });
    await relay.track('m1');
    await relay.settled('delivered');
    await waitFor(() => receiver.sockets.size === 0);
    await relay.track('m2');
    await relay.settled('delivered', 2);
    expect(receiver.connections).toBe(2);
  });
});

describe('The limit of the connections', () => {
  const cleanUp = useCleanUps();

  it('lets thousands of URLs go on whose requests are not made after all', async () => {
    const budget = new SocketBudget(1);
    let answer: () => void = () => undefined;
    const transport = () => ({
      post: () => new Promise<WebhookResponse>((resolve) => (answer = () => resolve({ status: 200 }))),
      close: () => Promise.resolve(),
    });
    const pool = () => new ConnectionPool(budget, () => undefined, transport, 1, 60_000);
    const first = postThrough(pool(), () => ({ headers: {}, body: Buffer.alloc(0) }));
    const others = Array.from({ length: 20_000 }, () =>
      postThrough(pool(), () => {
        throw new Error('the destination is down');
      }),
    );
    const ended = Promise.allSettled(others);
    answer();
    await expect(first).resolves.toEqual({ status: 200 });
    expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(20_000);
  });

  it('lets thousands of requests to one URL go on that are not made after all', async () => {
    const transport = (connect: buildConnector.connector) => ({
      post: () => new Promise<WebhookResponse>((resolve) => connect({} as never, () => resolve({ status: 503 }))),
      close: () => Promise.resolve(),
    });
    const connect: buildConnector.connector = (_options, callback) =>
      void setImmediate(() => callback(null, new Socket()));
    const pool = new ConnectionPool(new SocketBudget(10), connect, transport, 20_000, 60_000);
    let isDown = false;
    const posted = Array.from({ length: 20_000 }, () =>
      postThrough(pool, () => {
        if (isDown) throw new Error('the destination is down');
        return { headers: {}, body: Buffer.alloc(0) };
      }),
    );
    isDown = true;
    const ended = await Promise.allSettled(posted);
    expect(ended.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(19_000);
    await waitFor(() => pool.busy === 0);
  });

  it('needs no timer once no URL wants a connection', async () => {
    vi.useFakeTimers();
    cleanUp(() => void vi.useRealTimers());
    const answers: (() => void)[] = [];
    const transport = (connect: buildConnector.connector) => ({
      post: () =>
        new Promise<WebhookResponse>((resolve) => {
          if (answers.length === 0) connect({} as buildConnector.Options, () => undefined);
          answers.push(() => resolve({ status: 200 }));
        }),
      close: () => Promise.resolve(),
    });
    const connect: buildConnector.connector = (_options, callback) => callback(null, new Socket());
    const pool = new ConnectionPool(new SocketBudget(1), connect, transport, 2, 60_000);
    const posted = [1, 2].map(() => postThrough(pool, () => ({ headers: {}, body: Buffer.alloc(0) })));
    await vi.advanceTimersByTimeAsync(20);
    expect(answers).toHaveLength(1);
    answers[0]!();
    await posted[0];
    answers[1]!();
    await posted[1];
    await vi.advanceTimersByTimeAsync(20);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is the lowest that a module sets, and the default once these have closed', () => {
    const budget = new SocketBudget(5_000);
    const limit = () => (budget as unknown as { limit: number }).limit;
    expect(limit()).toBe(1_024);
    const leave = [budget.join(undefined), budget.join(4_096), budget.join(3_000), budget.join(9_000)];
    expect(limit()).toBe(3_000);
    leave[2]!();
    expect(limit()).toBe(4_096);
    leave[1]!();
    expect(limit()).toBe(5_000);
    leave[3]!();
    expect(limit()).toBe(1_024);
  });
});
