import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import type { RegistryRecord } from '../../lib/webhook-destination/queue/registry-store.interface.js';
import type { WebhookDestinationService } from '../../lib/webhook-destination/webhook-destination.service.js';
import type { ScenarioOptions } from './scenario.js';
import type { SimulatedDatabase } from './simulated-database.js';
import type { SimulatedNetwork } from './simulated-network.js';
import { SimulatedStore } from './simulated.store.js';
import type { Machine, SimulatedProcess, Simulation } from './simulation.js';

const BUDGET = Symbol.for('nestjs-analytics-relay:socket-budget');

/** Time after which a process that did not start is started again, in ms. */
const RESTART_DELAY = 2_000;

/** A registry entry as it is stored. */
export interface RegistryDocument {
  options: { urls?: string[]; enabled?: boolean; sharedSecret?: string };
  pauses?: { from: number; to?: number }[];
}

/** What a process knows of a destination of the registry; without a document, that it was removed. */
interface Knowledge {
  revision: number;
  since: number;
  document: RegistryDocument | undefined;
}

/** One life of a process with the relay, from its start to its end. */
export class RelayProcess implements SimulatedProcess {
  isAlive = true;
  frozenUntil = 0;
  readonly values: Map<symbol, unknown>;
  readonly startedAt: number;
  readonly known = new Map<string, Knowledge>();
  /** The last record that this process wrote, by the name of its destination. */
  readonly written = new Map<string, RegistryRecord>();
  service!: WebhookDestinationService;
  isReady = false;
  sweep: () => Promise<unknown> = () => Promise.resolve();
  private end: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly name: string,
    readonly machine: Machine,
    readonly simulation: Simulation,
    private readonly database: SimulatedDatabase,
    private readonly network: SimulatedNetwork,
    private readonly options: ScenarioOptions,
  ) {
    this.startedAt = simulation.now;
    const budget = new database.code.SocketBudget(1_024);
    this.values = new Map([[BUDGET, () => budget]]);
  }

  /** The time of the queue when the true time was 0, in ms since the epoch; a jump of its clock changes it. */
  get epoch(): number {
    const { simulation, database } = this;
    return simulation.timeOf(database.isShared ? database.machine : this.machine) - simulation.now;
  }

  /** Starts as Nest does it, and again after a while if that fails. */
  async start(): Promise<void> {
    const { code, isShared, retention } = this.database;
    const { fixed, secrets, maxSockets, concurrency, ...delivery } = this.options.relay;
    const createQueue = () => new code.DeliveryQueue(new SimulatedStore(this.database, this, this), retention);
    const given = code.checkOptions(
      {
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: fixed.map((name) => ({
          name,
          urls: this.options.urlsOf(name),
          sharedSecret: secrets[name],
          standardWebhooks: false,
        })),
        queue: Object.assign(createQueue, { isShared }),
        registry: 'store',
        ingest: false,
        delivery: { ...delivery, maxSockets, concurrency, transport: this.network.transportOf(this) },
      },
      new code.VisibilityOptions(),
    );
    const concealed = new code.Concealed(given);
    const steps = new code.RelaySteps(concealed, {} as HttpAdapterHost);
    const lifecycle = new code.RelayLifecycle(concealed, steps, {} as ModuleRef);
    this.service = new code.WebhookDestinationService(concealed, steps, lifecycle);
    this.end = async () => {
      lifecycle.onModuleDestroy();
      await lifecycle.onApplicationShutdown();
    };
    this.sweep = () => steps.queue.sweep();
    try {
      await lifecycle.onModuleInit();
      await lifecycle.onApplicationBootstrap();
      this.isReady = true;
    } catch (error) {
      this.simulation.tell(`${this.name} does not start: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY));
      await this.start();
    }
  }

  /** Ends the process as Nest does it at SIGTERM. */
  async stop(): Promise<void> {
    this.isReady = false;
    await this.end();
    this.isAlive = false;
  }

  kill(): void {
    this.isReady = false;
    this.isAlive = false;
  }

  learned(records: RegistryRecord[]): void {
    for (const record of records) if (record.kind === 'destination') this.learn(record);
  }

  /** Called when a change that this process made is in effect. */
  changed(name: string): void {
    const record = this.written.get(name);
    if (record) this.learn(record);
  }

  private learn({ name, revision, document }: RegistryRecord): void {
    if ((this.known.get(name)?.revision ?? 0) >= revision) return;
    const parsed = document === undefined ? undefined : (JSON.parse(document) as RegistryDocument);
    this.known.set(name, { revision, since: this.simulation.now, document: parsed });
  }
}
