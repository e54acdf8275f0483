import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { DeliveryRecord } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { FuzzedRelay } from '../support/fuzzed.relay.js';
import { type HostileRequest, hostileRequest } from './support/hostile.requests.js';
import { Random } from '../support/random.js';
import { type RawAnswer, RawConnection } from './support/raw.connection.js';

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);
/** How long each platform is attacked, in s; `npm run test:fuzz` takes longer. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 5);
/** Time after which memory has what it keeps: compiled code, pools, caches. */
const WARM_UP = SECONDS * 0.3;
const CONNECTIONS = 16;
/** Longest wait for an answer, in ms. */
const MAX_WAIT = 2_000;
const MAX_GROWTH = 8 * 1024 * 1024;
/** Of the whole process, which has more to warm up. */
const MAX_RSS_GROWTH = 96 * 1024 * 1024;

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

describe.each(['Express', 'Fastify'])('On %s', (platform) => {
  const afterwards = useCleanUps();

  it(`hostile requests harm nothing (FUZZ_SEED=${SEED})`, async () => {
    const { relay, host } = await start();
    const port = await relay.ask('port');
    const faults: string[] = [];

    /** Sends requests over some connections, each when the one before is answered; answers which were answered late. */
    async function send(indices: Iterator<number>, connections: number): Promise<number[]> {
      const late: number[] = [];
      const work = async () => {
        const connection = new RawConnection(port);
        while (faults.length < 10 && relay.isRunning) {
          const { value: index, done } = indices.next();
          if (done) break;
          const request = hostileRequest(new Random(SEED ^ Math.imul(index + 1, 0x9e3779b1)));
          const answer = await connection.send(request);
          const fault = faultOf(request, answer);
          if (isLate(request, answer)) late.push(index);
          else if (fault) faults.push(`${index}, ${request.kind}: ${fault}, ${shown(answer)}; sent ${sent(request)}`);
        }
        connection.close();
      };
      await Promise.all(Array.from({ length: connections }, work));
      return late;
    }
    let next = 0;
    const attack = async (seconds: number) => {
      const late = await send(indices(performance.now() + seconds * 1_000), CONNECTIONS);
      // Where other programs keep the machine busy, all is late at times: what a request is to blame for comes again.
      expect(await send(late.values(), 1)).toEqual([]);
      expect(faults).toEqual([]);
      expect(relay.isRunning).toBe(true);
      await everythingDelivered(relay);
    };

    function* indices(end: number): Generator<number, void> {
      while (performance.now() < end) yield next++;
    }

    await attack(WARM_UP);
    const before = { heap: await relay.ask('heap'), rss: await relay.ask('rss') };
    await attack(SECONDS - WARM_UP);
    expect((await relay.ask('heap')) - before.heap).toBeLessThan(MAX_GROWTH);
    expect((await relay.ask('rss')) - before.rss).toBeLessThan(MAX_RSS_GROWTH);

    const answer = await post(`${host}/v1/track`, { userId: 'u1', event: 'Order Completed' });
    expect(await answer.json()).toEqual({ success: true });
    expect(relay.log).toBe('');
  });

  async function start() {
    const sink = createServer((request, response) => request.resume().once('end', () => response.end()));
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    afterwards(() => sink.closeAllConnections());
    afterwards(() => sink.close());
    const folder = await temporaryFolder(afterwards);
    const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
    const relay = await FuzzedRelay.start({ platform, database: folder.path('relay.db'), url });
    afterwards(() => relay.stop());
    return { relay, host: `http://127.0.0.1:${await relay.ask('port')}` };
  }
});

/** What was accepted can be delivered: nothing that is wrong with a message may show only then. */
async function everythingDelivered(relay: FuzzedRelay): Promise<void> {
  let undelivered: DeliveryRecord[] = [];
  await waitFor(async () => (undelivered = await relay.ask('undelivered')).length === 0).catch(() => undefined);
  expect(undelivered).toEqual([]);
}

/** Whether an answer came late, or tells that the body did, though it did not. */
function isLate({ expected }: HostileRequest, { status, after }: RawAnswer): boolean {
  if (status === 0 || (status !== undefined && status >= 500)) return false;
  return after > MAX_WAIT || (status === 408 && expected !== undefined && expected.status !== 408);
}

/** Kinds that may not be HTTP, and how Node, or Fastify for it, refuses what is not. */
const NOT_HTTP = new Set([
  'a client that ends too early',
  'a length that is none',
  'a shorter length than the body has',
  'chunks that are none',
]);
const REFUSALS_OF_NODE = new Set([400, 408, 413, 431]);

/** What is wrong with an answer, if anything. */
function faultOf({ kind, expected, then }: HostileRequest, { status, body }: RawAnswer): string | undefined {
  if (status === 0) return 'no answer';
  if (status !== undefined && status >= 500) return 'a 5xx';
  if (status === undefined) return then === 'vanish' ? undefined : 'closed without an answer';
  if (expected && status !== expected.status) return `not ${expected.status}`;
  if (NOT_HTTP.has(kind) && REFUSALS_OF_NODE.has(status)) return undefined;
  const json = parse(body);
  if (!isObject(json)) return 'no JSON object';
  if (status === 200) return json.success === true && areRejected(json.rejected) ? undefined : 'no success';
  if (!isRefusal(json)) return 'no { code, message, field }';
  return expected?.code && json.code !== expected.code ? `not ${expected.code}` : undefined;
}

function isRefusal({ code, message, field, ...others }: Record<string, unknown>): boolean {
  return (
    typeof code === 'string' &&
    /^[a-z0-9_]+$/.test(code) &&
    typeof message === 'string' &&
    message.length > 10 &&
    typeof field === 'string' &&
    field !== '' &&
    Object.keys(others).length === 0
  );
}

function areRejected(rejected: unknown): boolean {
  if (rejected === undefined) return true;
  if (!Array.isArray(rejected)) return false;
  return rejected.every((item: Record<string, unknown>) => {
    const { index, ...fault } = item;
    return Number.isInteger(index) && isRefusal(fault);
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const shown = ({ status, body }: RawAnswer): string => `answered ${status} ${body.slice(0, 200)}`;

const sent = ({ parts }: HostileRequest): string => Buffer.concat(parts).subarray(0, 400).toString('latin1');
