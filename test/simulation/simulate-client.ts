import type { HTTPClientRequest, HTTPResponse } from '../../lib/client/delivery/http-client.interface.js';
import type { Plugin } from '../../lib/client/pipeline/plugin.interface.js';
import type { Random } from '../support/random.js';
import type { Package } from './package-under-test.js';
import type { Result } from './simulate.js';
import { type Machine, type SimulatedProcess, Simulation } from './simulation.js';

/** Time that a client has to act, in ms. */
const REACTION = 500;

const BEHAVIOURS = ['answer', 'fail', 'refuse', 'hang', 'drip', 'reject', 'busy'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

/** What becomes of an event. */
interface Fate {
  /** The errors that its callback was called with, `undefined` for none. */
  outcomes: (string | undefined)[];
  requests: number;
  /** Whether a request with it was answered 2xx in time, and the answer read. */
  isDelivered: boolean;
}

/** Simulates a client whose collection service, clock and process fail: each event has exactly one outcome. */
export async function simulateClient(
  code: Package,
  use: (simulation: Simulation) => void,
  seed: number,
): Promise<Omit<Result, 'counts'>> {
  const simulation = new Simulation(seed);
  use(simulation);
  const violations: string[] = [];
  const violate = (rule: string, story: string) => {
    violations.push(rule);
    simulation.tell(`VIOLATION of "${rule}": ${story}`);
  };
  const onFault = (error: unknown) => violate('nothing is thrown to the process', String(error));
  process.on('unhandledRejection', onFault);
  try {
    await play(code, simulation, violate);
  } finally {
    process.off('unhandledRejection', onFault);
  }
  return { seed, violations, story: simulation.story, steps: simulation.steps, time: simulation.now };
}

async function play(code: Package, simulation: Simulation, violate: (rule: string, story: string) => void) {
  const { random } = simulation;
  const machine: Machine = { name: 'machine', clockOffset: 0 };
  const client: SimulatedProcess = { machine, isAlive: true, frozenUntil: 0, values: new Map() };
  const maxRetries = random.integer(0, 4);
  const timeout = random.pick([2_000, 10_000]);
  const fates = new Map<string, Fate>();
  let behaviour: Behaviour = 'answer';
  /** When the service asked for no requests, and until when. */
  let pause = { from: -Infinity, until: -Infinity };
  let frozenAt = -Infinity;

  const makeRequest = (request: HTTPClientRequest): Promise<HTTPResponse> => {
    let isAborted = false;
    request.onAbort!(() => (isAborted = true));
    const { now } = simulation;
    const ids = (JSON.parse(request.body) as { batch: { messageId: string }[] }).batch.map(
      ({ messageId }) => messageId,
    );
    if (now > pause.from + REACTION && now < pause.until - 50) {
      violate('Retry-After pauses the client', `${ids.join(', ')}: the service asked for none until ${pause.until} ms`);
    }
    for (const id of ids) {
      const fate = fates.get(id)!;
      fate.requests++;
      if (fate.outcomes.length > 0) violate('an event that has an outcome is not sent', id);
      if (fate.isDelivered) violate('an event that was answered is not sent again', id);
    }
    return new Promise((resolve, reject) => {
      const answer = (delay: number, status: number, retryAfter?: number) => {
        const inTime = delay <= timeout / 2;
        simulation.after(delay, client, 'answer', () => {
          if (isAborted) return;
          if (status < 300 && inTime) for (const id of ids) fates.get(id)!.isDelivered = true;
          if (retryAfter !== undefined) pause = { from: simulation.now, until: simulation.now + retryAfter * 1_000 };
          const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
          resolve({ status, statusText: '', headers, text: () => Promise.resolve('') });
        });
      };
      const way = random.next() * 60;
      switch (behaviour) {
        case 'answer':
          return answer(way, 200);
        case 'fail':
          return answer(way, 503);
        case 'reject':
          return answer(way, 400);
        case 'busy':
          return answer(way, 429, random.pick([1, 5, 20]));
        case 'drip':
          return answer(random.next() * timeout * 1.5, 200);
        case 'refuse':
          return void simulation.after(way, client, 'answer', () => reject(new Error('connect ECONNREFUSED')));
        case 'hang':
          return;
      }
    });
  };

  const inProcess = <T>(call: () => T): Promise<T> =>
    new Promise<void>((resolve) => void simulation.after(0, client, 'answer', resolve)).then(call);
  let analytics!: InstanceType<Package['Analytics']>;
  const maxQueueSize = random.pick([5, 10_000]);
  const start = inProcess(() => {
    analytics = new code.Analytics({
      writeKey: 'wk_shop',
      host: 'https://relay.example',
      httpClient: { makeRequest },
      maxRetries,
      maxQueueSize,
      httpRequestTimeout: timeout,
      flushAt: random.pick([1, 3, 15]),
      flushInterval: random.pick([100, 5_000]),
      plugins: random.chance(0.3) ? [hostilePlugin(random)] : [],
    });
    analytics.on('error', () => undefined);
  });
  const until = async (wait: number) => void (await simulation.run(simulation.now + wait));
  await until(1);
  await start;

  const track = () => {
    for (let count = random.integer(1, 6); count > 0; count--) {
      const messageId = `m${fates.size + 1}`;
      const fate: Fate = { outcomes: [], requests: 0, isDelivered: false };
      fates.set(messageId, fate);
      // Those that are refused count until the end of the turn.
      if (analytics.pendingCount > maxQueueSize + 6)
        violate('memory is bounded', `${analytics.pendingCount} are pending`);
      analytics.track({ event: 'Order Completed', userId: 'u1', messageId }, (error) => {
        fate.outcomes.push(error === undefined ? undefined : errorName(error));
        if (fate.outcomes.length > 1) violate('an event has one outcome', `${messageId}: ${fate.outcomes.join(', ')}`);
      });
    }
  };
  const ended = async (what: string, limit: number, call: () => Promise<unknown>) => {
    const begun = simulation.now;
    let hasEnded = false;
    void inProcess(() => call().then(() => (hasEnded = true)));
    const isLate = !(await simulation.run(Math.max(begun, client.frozenUntil) + limit, () => hasEnded));
    if (isLate) violate('every wait ends', `${what} has not ended after ${limit} ms`);
  };
  const actions = {
    track: () => void inProcess(track), // once the simulation goes on
    behave: () => {
      behaviour = random.chance(0.3) ? 'answer' : random.pick(BEHAVIOURS);
      simulation.tell(`the service will ${behaviour}`);
    },
    freeze: () => {
      const time = random.pick([1_000, 6_000, 15_000]);
      client.frozenUntil = Math.max(client.frozenUntil, simulation.now + time);
      frozenAt = simulation.now;
      simulation.tell(`frozen for ${time} ms`);
    },
    jump: () => {
      const by = random.pick([60_000, -60_000, 18_000_000, -18_000_000]);
      machine.clockOffset += by;
      simulation.tell(`the clock jumps by ${by} ms`);
    },
    flush: () => {
      const limit = random.integer(1, 3_000);
      return ended('flush', limit + REACTION, () => analytics.flush({ timeout: limit }));
    },
  };
  const names = [
    'track',
    'track',
    'track',
    'behave',
    'behave',
    ...Object.keys(actions).slice(2),
  ] as (keyof typeof actions)[];
  for (let count = random.integer(4, 14); count > 0; count--) {
    const name = random.pick(names);
    if (name === 'track') simulation.tell('events are recorded');
    await actions[name]();
    await until(random.next() * random.pick([50, 2_000, 10_000]));
  }

  behaviour = 'answer';
  simulation.tell('all faults are over');
  await until(Math.max(0, client.frozenUntil - simulation.now) + 1); // what is recorded is recorded
  // What the service asked for or asks for in an answer on its way, and the longest chain of retries that has begun.
  const longest = Math.max(0, pause.until - simulation.now) + (maxRetries + 1) * (timeout + 12_000) + 25_000;
  if (random.chance(0.5)) {
    await ended('closeAndFlush', longest, () => analytics.closeAndFlush());
  } else {
    const limit = random.integer(1, 2_000);
    await ended('closeAndFlush', limit + REACTION, () => analytics.closeAndFlush({ timeout: limit }));
  }
  await until(1_000);
  for (const [id, { outcomes, isDelivered, requests }] of fates) {
    if (outcomes.length !== 1) violate('an event has one outcome', `${id} has ${outcomes.length}`);
    // A flush whose time is over fails what is in flight.
    if (isDelivered && outcomes[0] !== undefined && outcomes[0] !== 'flush_timeout' && frozenAt === -Infinity) {
      violate('an answer counts', `${id} was delivered, and failed with ${outcomes[0]}`);
    }
    if (outcomes[0] === undefined && !isDelivered && requests === 0) violate('delivered means sent', id);
  }
  if (analytics.pendingCount > 0) violate('nothing is left', `${analytics.pendingCount} are pending`);
}

/** A plugin that is slow, throws or cancels. */
function hostilePlugin(random: Random): Plugin {
  const track = async (context: Parameters<NonNullable<Plugin['track']>>[0]) => {
    const chance = random.next();
    if (chance < 0.3) await new Promise((resolve) => setTimeout(resolve, random.next() * 3_000));
    if (chance < 0.1) throw new Error('the plugin fails');
    if (chance < 0.2) context.cancel();
    return context;
  };
  return {
    name: 'hostile',
    type: random.pick(['before', 'enrichment'] as const),
    version: '1.0.0',
    isLoaded: () => true,
    load: () => Promise.resolve(),
    track,
  };
}

function errorName(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? 'unknown';
}
