import { Logger } from '@nestjs/common';

import { Ledger } from './ledger.js';
import type { Package } from './package-under-test.js';
import { RelayProcess } from './relay-process.js';
import { type Action, drawScenario, type RegistryChange, type Scenario, type ScenarioOptions } from './scenario.js';
import { SimulatedDatabase } from './simulated-database.js';
import { SimulatedNetwork } from './simulated-network.js';
import { type Machine, Simulation } from './simulation.js';

/** Time that the relay has for what is left once all faults are over, beyond the retry window, in ms. */
const SETTLING = 5 * 60_000;

/** Longest shutdown, in ms: 5 s for what is in flight, and a limit for each call of the database. */
const MAX_SHUTDOWN = 45_000;

/** A page with all deliveries. */
const ALL = { limit: 1e9, after: undefined };

export interface Result {
  seed: number;
  /** Rules that were broken, in order. */
  violations: string[];
  /** What happened, a line each. */
  story: string[];
  steps: number;
  /** Simulated time, in ms. */
  time: number;
  counts: Ledger['counts'];
}

/** Runs the scenario of a seed, or another one with its randomness. */
export async function simulate(
  code: Package,
  use: (simulation: Simulation) => void,
  seed: number,
  scenario: Scenario = drawScenario(seed),
  isDetailed = false,
): Promise<Result> {
  const simulation = new Simulation(seed);
  simulation.isDetailed = isDetailed;
  use(simulation);
  const world = new World(code, simulation, scenario.options);
  const onFault = (error: unknown) => world.ledger.violate('nothing is thrown to the process', String(error));
  process.on('unhandledRejection', onFault);
  Logger.overrideLogger(world.logger);
  try {
    await world.play(scenario);
  } finally {
    Logger.overrideLogger(false);
    process.off('unhandledRejection', onFault);
  }
  const { ledger } = world;
  const { story, steps, now } = simulation;
  return { seed, violations: ledger.violations, story, steps, time: now, counts: ledger.counts };
}

/** The processes of a scenario, and what it does to them. */
class World {
  readonly ledger: Ledger;
  private readonly database: SimulatedDatabase;
  private readonly network: SimulatedNetwork;
  private readonly machines: Machine[];
  private readonly processes: RelayProcess[] = [];
  private messages = 0;
  private secrets = 0;
  private lives = 0;
  /** What callers wait for. */
  private readonly waits = new Map<Promise<unknown>, { what: string; process: RelayProcess }>();

  constructor(
    code: Package,
    private readonly simulation: Simulation,
    private readonly options: ScenarioOptions,
  ) {
    const { retention } = code.toQueueOptions(
      'simulation',
      code.QueueOptions,
      { retention: { dead: { count: options.deadCount } } },
      () => Infinity,
    );
    this.ledger = new Ledger(simulation, options);
    this.database = new SimulatedDatabase(simulation, code, options.isShared, retention, options.maxOpen, this.ledger);
    this.network = new SimulatedNetwork(simulation, this.ledger, options.timeout);
    this.machines = Array.from({ length: options.processes }, (_, index) => ({
      name: `machine ${index + 1}`,
      clockOffset: 0,
    }));
  }

  /** Lines of the relay's log are part of the story. */
  readonly logger = (() => {
    const write = (level: string) => (line: unknown) => this.simulation.tell(`${level}: ${String(line).slice(0, 120)}`);
    return { log: () => undefined, debug: () => undefined, warn: write('warning'), error: write('error') };
  })();

  async play({ actions, options }: Scenario): Promise<void> {
    const { simulation, ledger } = this;
    this.machines.forEach((_, index) => this.start(index));
    for (const action of actions) {
      await simulation.run(simulation.startOf(action.at));
      simulation.tell(tellAction(action));
      this.act(action);
    }
    await simulation.run(simulation.startOf(options.duration));
    simulation.tell('all faults are over');
    this.calm();
    const end = simulation.now + options.retryWindow + SETTLING;
    while (simulation.now < end && (this.waits.size > 0 || (await this.isBusy()))) {
      await simulation.run(Math.min(end, simulation.now + 1_000));
    }
    ledger.ended(await this.openDeliveries(), (name) => this.isHeld(name));
    for (const { what, process } of this.waits.values()) {
      if (process.isAlive) ledger.violate('every wait ends', `${what} of ${process.name} has not ended`);
    }
  }

  private act(action: Action): void {
    const { simulation, ledger, database } = this;
    switch (action.kind) {
      case 'post':
        return this.post(action);
      case 'behave':
        return void this.network.behaviours.set(action.url, action.behaviour);
      case 'kill':
        return this.kill(action.process, action.down);
      case 'stop':
        return this.stop(action.process, action.down);
      case 'freeze': {
        const process = this.processes[action.process]!;
        process.frozenUntil = Math.max(process.frozenUntil, simulation.now + action.time);
        return;
      }
      case 'jump': {
        const machine = this.machines[action.machine] ?? database.machine;
        const jump = (by: number) => {
          machine.clockOffset += by;
          ledger.jumpedAt = simulation.now;
        };
        jump(action.by);
        if (action.back !== undefined) simulation.after(action.back, undefined, 'answer', () => jump(-action.by));
        return;
      }
      case 'database': {
        database.state = action.state;
        const until = simulation.now + action.time;
        ledger.disturbedAt = until;
        simulation.after(action.time, undefined, 'answer', () => {
          if (ledger.disturbedAt === until) database.state = 'up';
        });
        return;
      }
      case 'create':
        return this.ask(action.process, `create ${action.destination}`, async (process) => {
          const { name } = await process.service.destinations.create({
            name: action.destination,
            urls: this.options.urlsOf(action.destination),
            sharedSecret: this.newSecret(),
            standardWebhooks: false,
          });
          process.changed(name);
        });
      case 'change':
        return this.change(action.process, action.destination, action.change);
      case 'replay':
        return this.ask(action.process, `replay ${action.destination}`, (process) =>
          process.service.replay({ destination: action.destination }),
        );
      case 'delete':
        return this.ask(action.process, `delete user u${action.user}`, async (process) => {
          const keys = ledger.ofUser(`u${action.user}`);
          await process.service.requestDeletion({ userId: `u${action.user}` }).catch((error: unknown) => {
            if ((error as { code?: string }).code === 'queue_full') {
              ledger.violate('a full queue refuses no deletion', (error as Error).message);
            }
            throw error;
          });
          ledger.deleted(keys, await this.database.memory.list({}, ALL));
        });
      case 'sweep':
        return this.ask(action.process, 'sweep', (process) => process.sweep());
    }
  }

  /** Ends all faults; every process is running. */
  private calm(): void {
    const { database, network, ledger, simulation } = this;
    if (database.state !== 'up') {
      database.state = 'up';
      ledger.disturbedAt = simulation.now;
    }
    network.behaviours.clear();
    this.processes.forEach((process, index) => {
      process.frozenUntil = Math.min(process.frozenUntil, simulation.now);
      if (!process.isAlive) this.start(index);
    });
  }

  private start(index: number): void {
    const { simulation } = this;
    const name = `process ${index + 1}${this.lives++ < this.machines.length ? '' : ` (life ${this.lives})`}`;
    const process = new RelayProcess(
      name,
      this.machines[index]!,
      simulation,
      this.database,
      this.network,
      this.options,
    );
    this.processes[index] = process;
    simulation.tell(`${name} starts`);
    this.wait(process, 'the start', () => process.start());
  }

  private restart(index: number, process: RelayProcess, delay: number): void {
    this.simulation.after(delay, undefined, 'answer', () => {
      if (this.processes[index] === process) this.start(index);
    });
  }

  private kill(index: number, down: number): void {
    const process = this.processes[index]!;
    if (!process.isAlive) return;
    process.kill();
    this.ledger.forgetPauses();
    this.restart(index, process, down);
  }

  private stop(index: number, down: number): void {
    const process = this.processes[index]!;
    const { simulation } = this;
    if (!process.isReady) return;
    const begun = simulation.now;
    this.wait(process, 'the shutdown', async () => {
      await process.stop();
      simulation.tell(`${process.name} has stopped`);
      this.ledger.forgetPauses();
      const time = simulation.now - Math.max(begun, process.frozenUntil);
      if (time > MAX_SHUTDOWN) this.ledger.violate('a shutdown takes seconds', `${process.name} took ${time} ms`);
      this.restart(index, process, down);
    });
  }

  private post({ process: index, count, users, isAsArray }: Action & { kind: 'post' }): void {
    const messages = Array.from({ length: count }, () => {
      const messageId = `m${++this.messages}`;
      return { type: 'track', event: 'Order Completed', messageId, userId: `u${this.messages % users}` };
    });
    const calls = isAsArray ? [messages] : messages.map((message) => [message]);
    for (const call of calls) {
      const ids = call.map(({ messageId }) => messageId);
      this.ask(index, `accept ${ids.join(', ')}`, async (process) => {
        const { accepted } = await process.service.accept('wk_shop', call);
        if (accepted === call.length) this.ledger.acknowledged(ids);
      });
    }
  }

  private change(index: number, destination: string, change: RegistryChange): void {
    const { ledger } = this;
    this.ask(index, `${change} ${destination}`, async (process) => {
      const { destinations } = process.service;
      ledger.removals.add(destination);
      ledger.forgetPauses(destination);
      switch (change) {
        case 'url':
          await destinations.update(destination, { urls: [`https://${destination}.example/new`] });
          break;
        case 'rotate':
          await destinations.rotateSecret(destination, { secret: this.newSecret(), overlap: 1_000 });
          break;
        case 'disable':
        case 'enable':
          await destinations.update(destination, { enabled: change === 'enable' });
          break;
        default:
          await destinations[change](destination);
      }
      process.changed(destination);
    });
  }

  /** Calls a process that is ready, as its application would; errors are its answers. */
  private ask(index: number, what: string, call: (process: RelayProcess) => Promise<unknown>): void {
    const process = this.processes[index]!;
    if (!process.isReady) return;
    this.wait(process, what, () => call(process));
  }

  private wait(process: RelayProcess, what: string, call: () => Promise<unknown>): void {
    const { simulation } = this;
    // In a step of its process, which may be frozen.
    simulation.after(0, process, 'answer', () => {
      const ended = call()
        .catch((error: unknown) => simulation.tell(`${process.name}: ${what} fails: ${(error as Error).message}`))
        .finally(() => this.waits.delete(ended));
      this.waits.set(ended, { what, process });
    });
  }

  private newSecret(): string {
    return `secret-number-${++this.secrets}-0123456789`;
  }

  /** Whether a delivery is open that does not wait for its operator. */
  private async isBusy(): Promise<boolean> {
    const counts = await this.database.memory.counts();
    return counts.some(
      ({ state, destination }) => state !== 'delivered' && state !== 'dead' && !this.isHeld(destination),
    );
  }

  private async openDeliveries() {
    const all = await this.database.memory.list({}, ALL);
    return all.filter(({ state }) => state !== 'delivered' && state !== 'dead');
  }

  /** Whether nothing is sent to a destination: it is paused or disabled. */
  private isHeld(destination: string): boolean {
    return this.processes.some(({ known }) => {
      const document = known.get(destination)?.document;
      const { to = undefined } = document?.pauses?.at(-1) ?? { to: 0 };
      return document?.options.enabled === false || to === undefined;
    });
  }
}

function tellAction({ at: _at, kind, ...details }: Action & { at: number }): string {
  return `${kind} ${JSON.stringify(details)}`;
}
