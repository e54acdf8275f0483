import { Random } from '../support/random.js';
import { type Behaviour, BEHAVIOURS } from './simulated-network.js';
import type { DatabaseState } from './simulated-database.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What happens in a scenario, besides what the relay does. */
export type Action =
  | { kind: 'post'; process: number; count: number; users: number; isAsArray: boolean }
  | { kind: 'behave'; url: string; behaviour: Behaviour }
  | { kind: 'kill'; process: number; down: number }
  | { kind: 'stop'; process: number; down: number }
  | { kind: 'freeze'; process: number; time: number }
  | { kind: 'jump'; machine: number; by: number; back: number | undefined }
  | { kind: 'database'; state: DatabaseState; time: number }
  | { kind: 'create'; process: number; destination: string }
  | { kind: 'change'; process: number; destination: string; change: RegistryChange }
  | { kind: 'replay'; process: number; destination: string }
  | { kind: 'delete'; process: number; user: number }
  | { kind: 'sweep'; process: number };

export type RegistryChange = 'url' | 'rotate' | 'pause' | 'resume' | 'disable' | 'enable' | 'remove';
const CHANGES: RegistryChange[] = ['url', 'rotate', 'pause', 'resume', 'disable', 'enable', 'remove'];

export type TimedAction = Action & { at: number };

/** The relay of a scenario, and the world around it. */
export interface ScenarioOptions {
  isShared: boolean;
  processes: number;
  /** Destinations of the module's options, and of the registry. */
  fixed: string[];
  changing: string[];
  secrets: Record<string, string>;
  urlsOf(destination: string): string[];
  retryWindow: number;
  initialRetryDelay: number;
  maxRetryDelay: number;
  timeout: number;
  /** Bounds of the queue. */
  maxOpen: number;
  deadCount: number;
  /** Time with actions and faults, in ms. */
  duration: number;
  relay: {
    fixed: string[];
    secrets: Record<string, string>;
    retryWindow: number;
    initialRetryDelay: number;
    maxRetryDelay: number;
    timeout: number;
    concurrency: number;
    maxSockets: number;
  };
}

export interface Scenario {
  options: ScenarioOptions;
  actions: TimedAction[];
}

/** Draws a scenario from a seed. */
export function drawScenario(seed: number): Scenario {
  const random = new Random(seed ^ 0x5ca1ab1e);
  const isShared = random.chance(0.6);
  const processes = isShared ? random.pick([2, 2, 3, 4]) : 1;
  const fixed = ['one', 'two'].slice(0, random.integer(1, 2));
  const changing = ['red', 'blue'].slice(0, random.integer(0, 2));
  const secrets = Object.fromEntries(fixed.map((name) => [name, `secret-of-${name}-0123456789`]));
  const urlCounts = new Map(
    [...fixed, ...changing].map((name) => [name, random.chance(0.75) ? 1 : random.integer(2, 3)]),
  );
  const urls = new Map(
    Array.from(urlCounts, ([name, length]) => [
      name,
      Array.from({ length }, (_, index) => `https://${name}.example/${index}`),
    ]),
  );
  const urlsOf = (name: string) => urls.get(name)!;
  const retryWindow = random.pick([15, 30, 30, 60, 60, 120, 120, 600].map((seconds) => seconds * SECOND));
  const retry = {
    retryWindow,
    initialRetryDelay: random.pick([500, 2 * SECOND, 10 * SECOND]),
    maxRetryDelay: random.pick([30 * SECOND, 2 * MINUTE]),
    timeout: random.pick([2 * SECOND, 5 * SECOND]),
  };
  const duration = random.pick([5 * SECOND, 15 * SECOND, 40 * SECOND]) + random.integer(0, Math.floor(retryWindow / 3));
  const options: ScenarioOptions = {
    isShared,
    processes,
    fixed,
    changing,
    secrets,
    urlsOf,
    ...retry,
    maxOpen: random.chance(0.15) ? random.integer(5, 20) : 10_000,
    deadCount: random.chance(0.3) ? random.integer(2, 6) : 10_000,
    duration,
    relay: {
      fixed,
      secrets,
      ...retry,
      concurrency: random.pick([1, 2, 4, 16]),
      maxSockets: random.pick([1, 2, 4, 64, 64, 64]),
    },
  };
  return { options, actions: drawActions(random, options) };
}

function drawActions(random: Random, options: ScenarioOptions): TimedAction[] {
  const { duration, fixed, changing, urlsOf, isShared } = options;
  const destinations = [...fixed, ...changing];
  const actions: TimedAction[] = changing.map((destination, index) => ({
    kind: 'create',
    process: index % options.processes,
    destination,
    at: 100,
  }));
  const process = () => random.integer(0, options.processes - 1);
  const isCalm = random.chance(0.1);
  const draw: Record<Action['kind'], () => Action> = {
    post: () => {
      const count = random.chance(0.15) ? random.integer(5, 10) : random.integer(1, 3);
      return { kind: 'post', process: process(), count, users: random.integer(1, 3), isAsArray: random.chance(0.5) };
    },
    behave: () => {
      const url = random.pick(urlsOf(random.pick(destinations)));
      return { kind: 'behave', url, behaviour: random.chance(0.3) ? 'answer' : random.pick(BEHAVIOURS) };
    },
    kill: () => ({ kind: 'kill', process: process(), down: downtime(random, options) }),
    stop: () => ({ kind: 'stop', process: process(), down: downtime(random, options) }),
    freeze: () => ({ kind: 'freeze', process: process(), time: random.pick([800, 3_000, 6_000, 14_000, 40_000]) }),
    jump: () => {
      const by = random.pick([5_000, 60_000, 5 * 60 * MINUTE, -5_000, -60_000]);
      const machine = isShared && random.chance(0.5) ? -1 : process();
      return { kind: 'jump', machine, by, back: random.chance(0.5) ? random.integer(1_000, 20_000) : undefined };
    },
    database: () => ({
      kind: 'database',
      state: random.pick(['failing', 'doubt', 'hanging', 'unsteady'] as const),
      time: random.pick([100, 2_000, 8_000, 25_000]),
    }),
    create: () => ({ kind: 'create', process: process(), destination: random.pick(changing) }),
    change: () => ({
      kind: 'change',
      process: process(),
      destination: random.pick(changing),
      change: random.pick(CHANGES),
    }),
    replay: () => ({ kind: 'replay', process: process(), destination: random.pick(destinations) }),
    delete: () => ({ kind: 'delete', process: process(), user: random.integer(0, 2) }),
    sweep: () => ({ kind: 'sweep', process: process() }),
  };
  const kinds: Action['kind'][] = ['post', 'post', 'post', 'behave', 'behave'];
  const rare: Action['kind'][] = ['kill', 'stop', 'freeze', 'jump', 'database', 'replay', 'delete', 'sweep'];
  if (changing.length > 0) rare.push('create', 'change', 'change');
  // A scenario has few kinds of faults, so that it is not all noise.
  const faults = isCalm ? [] : rare.filter(() => random.chance(0.4));
  const count = random.integer(3, 10);
  for (let index = 0; index < count; index++) {
    const kind = faults.length > 0 && random.chance(0.4) ? random.pick(faults) : random.pick(kinds);
    actions.push({ ...draw[kind](), at: 200 + random.next() * duration });
  }
  actions.push({ ...draw.post(), at: 150 });
  if (random.chance(0.4)) actions.push(...drawStory(random, options));
  return actions.sort((one, other) => one.at - other.at);
}

/** Actions that seldom meet by chance. */
function drawStory(random: Random, options: ScenarioOptions): TimedAction[] {
  const { duration, fixed, changing, urlsOf, retryWindow } = options;
  const destination = random.pick([...fixed, ...changing]);
  const process = random.integer(0, options.processes - 1);
  let at = 300 + (random.next() * duration) / 2;
  const then = (wait: number, action: Action): TimedAction => ({ ...action, at: (at += random.next() * wait) });
  const post = (): Action => ({ kind: 'post', process, count: random.integer(3, 10), users: 2, isAsArray: true });
  const behave = (behaviour: Behaviour, name = destination) =>
    urlsOf(name).map((url) => then(1, { kind: 'behave', url, behaviour }));
  const stories = {
    replayed: () => [
      ...behave('reject'),
      then(1_000, post()),
      ...behave('fail'),
      then(5_000, { kind: 'replay', process, destination }),
    ],
    swept: () => [
      ...fixed.flatMap((name) => behave('reject', name)),
      then(1_000, post()),
      then(1_000, post()),
      then(10_000, { kind: 'sweep', process }),
    ],
    deleted: () => [
      ...behave(random.pick(['hang', 'drip'])),
      then(1_000, post()),
      then(1_000, post()),
      then(3_000, { kind: 'delete', process, user: random.integer(0, 1) }),
    ],
    backdated: () => {
      const machine = options.isShared ? -1 : process;
      return [
        then(1, { kind: 'jump', machine, by: 60_000, back: 5_000 }),
        then(4_000, post()),
        then(10_000, { kind: 'kill', process, down: 200 }),
        then(10_000, { kind: 'delete', process, user: random.integer(0, 1) }),
      ];
    },
    removed: () => [
      ...behave(random.pick(['fail', 'hang'])),
      then(1_000, post()),
      then(retryWindow / 2, { kind: 'change', process, destination, change: 'remove' }),
    ],
  } satisfies Record<string, () => TimedAction[]>;
  const { removed, ...others } = stories;
  return random.pick(Object.values(changing.includes(destination) ? { ...others, removed } : others))();
}

function downtime(random: Random, { retryWindow }: ScenarioOptions): number {
  return random.pick([200, 3_000, 20_000, retryWindow * 1.2]);
}
