import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

import { errorMessage } from '../../client/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import type { DeliveryCount } from './delivery.interface.js';
import type { DeliveryQueue } from './delivery.queue.js';

/** Name of the interval in the registry of `@nestjs/schedule`. */
const SWEEP_INTERVAL_NAME = 'nestjs-analytics-relay:sweep';

/** Time between two sweeps, in ms. */
const SWEEP_INTERVAL = 15_000;

/** Maximum number of destinations in one log line. */
const NAMED = 10;

/** The part of `SchedulerRegistry` from `@nestjs/schedule` that is used here. */
interface SchedulerRegistry {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
}

/**
 * Removes records past their retention at a fixed interval.
 *
 * If the application imports `ScheduleModule`, the timer is registered in its `SchedulerRegistry`, where the
 * application can see and stop it. This package does not import the module: a second `ScheduleModule` would run each of
 * the application's jobs twice, and a first one would start jobs that the application had left disabled.
 */
export class RetentionSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new LineLogger('WebhookDestination');
  private timer: NodeJS.Timeout | undefined;
  private registry: SchedulerRegistry | undefined;
  private name = SWEEP_INTERVAL_NAME;
  private sweeping = false;
  private stopped = false;

  /** @param onSurplus receives the number of records that each sweep removes because of a `count` */
  constructor(
    private readonly queue: DeliveryQueue,
    private readonly modules: ModulesContainer,
    private readonly onSurplus: (surplus: DeliveryCount[]) => void,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL);
    this.timer.unref();
    this.registry = findSchedulerRegistry(this.modules);
    // An application may import this package's module more than once.
    for (let count = 2; this.registry?.doesExist('interval', this.name); count++) {
      this.name = `${SWEEP_INTERVAL_NAME}:${count}`;
    }
    this.registry?.addInterval(this.name, this.timer);
  }

  onModuleDestroy(): void {
    this.stopped = true;
    clearInterval(this.timer);
    if (this.registry?.doesExist('interval', this.name)) this.registry.deleteInterval(this.name);
  }

  /** Never rejects; a failed sweep is retried at the next interval. */
  private async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      const { surplus } = await this.queue.sweep();
      this.onSurplus(surplus);
      this.warn(surplus.filter(({ state }) => state === 'dead'));
    } catch (error) {
      if (this.stopped) return; // closing the queue interrupts a sweep
      this.logger.error(`Old records could not be removed: ${errorMessage(error)}`);
    } finally {
      this.sweeping = false;
    }
  }

  /** Warns of dead letters that can no longer be replayed. Records of delivered messages are only counted. */
  private warn(dead: DeliveryCount[]): void {
    if (dead.length === 0) return;
    const named = dead.slice(0, NAMED).map(({ destination, count }) => `${count} of "${destination}"`);
    if (dead.length > NAMED) named.push(`those of ${dead.length - NAMED} more destinations`);
    this.logger.warn(
      `Dead deliveries removed because there were more than retention.dead.count: ${named.join(', ')}. They cannot be replayed`,
    );
  }
}

/**
 * Finds the registry of the application's `ScheduleModule`, if it imports one.
 *
 * The lookup is by class name: `@nestjs/schedule` is optional, and importing it here might load another copy than the
 * application's, or fail (version 12 has ES modules only, which Jest cannot load in CommonJS).
 */
function findSchedulerRegistry(modules: ModulesContainer): SchedulerRegistry | undefined {
  for (const { providers } of modules.values()) {
    for (const [token, { instance }] of providers) {
      if (typeof token === 'function' && token.name === 'SchedulerRegistry' && isRegistry(instance)) return instance;
    }
  }
  return undefined;
}

/** The application may have an unrelated class of the same name. */
function isRegistry(instance: unknown): instance is SchedulerRegistry {
  const { doesExist, addInterval, deleteInterval } = (instance ?? {}) as Partial<SchedulerRegistry>;
  return [doesExist, addInterval, deleteInterval].every((method) => typeof method === 'function');
}
