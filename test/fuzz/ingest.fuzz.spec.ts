import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { describe, expect, it, jest } from '@jest/globals';
import type { DeliveryRecord } from 'nestjs-analytics-relay';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { FuzzedRelay } from './support/fuzzed.relay.js';
import { type HostileRequest, hostileRequest } from './support/hostile.requests.js';
import { Random } from './support/random.js';
import { type RawAnswer, RawConnection } from './support/raw.connection.js';

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);
/** On each platform. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 10_000);
/** Requests after which memory has what it keeps: compiled code, pools, caches. */
const WARM_UP = Math.floor(REQUESTS * 0.3);
const CONNECTIONS = 16;
/** Longest wait for an answer, in ms, besides what this process itself was late by. */
const MAX_WAIT = 2_000;
const MAX_GROWTH = 8 * 1024 * 1024;

const ownDelay = monitorEventLoopDelay();
ownDelay.enable();
jest.setTimeout(120_000);

describe.each(['Express', 'Fastify'])('On %s', (platform) => {
  const afterwards = useCleanUps();

  it(`${REQUESTS} hostile requests harm nothing (FUZZ_SEED=${SEED})`, async () => {
    const { relay, host } = await start();
    const port = await relay.ask('port');
    const faults: string[] = [];
    let next = 0;

    async function attack(upTo: number): Promise<void> {
      const connection = new RawConnection(port);
      while (next < upTo && faults.length < 10 && relay.isRunning) {
        const index = next++;
        const request = hostileRequest(new Random(SEED ^ Math.imul(index + 1, 0x9e3779b1)));
        const answer = await connection.send(request);
        const fault = faultOf(request, answer);
        if (fault) faults.push(`${index}, ${request.kind}: ${fault}, ${shown(answer)}; sent ${sent(request)}`);
      }
      connection.close();
    }
    const attackUpTo = async (upTo: number) => {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => attack(upTo)));
      expect(faults).toEqual([]);
      expect(relay.isRunning).toBe(true);
      await everythingDelivered(relay);
    };

    await attackUpTo(WARM_UP);
    const before = await relay.ask('heap');
    await attackUpTo(REQUESTS);
    const after = await relay.ask('heap');
    expect(after - before).toBeLessThan(MAX_GROWTH);

    const answer = await post(`${host}/v1/track`, { userId: 'u1', event: 'Order Completed' });
    expect(await answer.json()).toEqual({ success: true });
    expect(relay.log).toBe('');
  });

  async function start() {
    const sink = createServer((request, response) => request.resume().once('end', () => response.end()));
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    afterwards(() => sink.closeAllConnections());
    afterwards(() => sink.close());
    const folder = await temporaryFolder();
    afterwards(folder.remove);
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

/** What is wrong with an answer, if anything. */
function faultOf({ expected, brokenHttp, then }: HostileRequest, answer: RawAnswer): string | undefined {
  const { status, body, after } = answer;
  if (status === 0) return 'no answer';
  if (after - ownDelay.max / 1e6 > MAX_WAIT) return `answered after ${Math.round(after)} ms`;
  if (status !== undefined && status >= 500) return 'a 5xx';
  if (brokenHttp) return undefined;
  if (status === undefined) return then === 'vanish' ? undefined : 'closed without an answer';
  if (expected && status !== expected.status) return `not ${expected.status}`;
  const json = parse(body);
  if (!isObject(json)) return 'no JSON object';
  if (status === 200) return json.success === true && areRejected(json.rejected) ? undefined : 'no success';
  if (!isRefusal(json)) return 'no { code, message, field? }';
  return expected?.code && json.code !== expected.code ? `not ${expected.code}` : undefined;
}

function isRefusal({ code, message, field, ...others }: Record<string, unknown>): boolean {
  return (
    typeof code === 'string' &&
    /^[a-z0-9_]+$/.test(code) &&
    typeof message === 'string' &&
    message.length > 10 &&
    (field === undefined || typeof field === 'string') &&
    Object.keys(others).length === 0
  );
}

function areRejected(rejected: unknown): boolean {
  if (rejected === undefined) return true;
  if (!Array.isArray(rejected)) return false;
  return rejected.every((item: Record<string, unknown>) => {
    const { index, ...fault } = item;
    return Number.isInteger(index) && typeof fault.field === 'string' && isRefusal(fault);
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
