import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

import { errorMessage } from '../../common/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import type { DeliveryQueue } from './delivery-queue.interface.js';
import { findSchedulerRegistry, type SchedulerRegistry } from './scheduler.registry.js';

/** Name of the interval in the registry of `@nestjs/schedule`. */
export const SWEEP_INTERVAL_NAME = 'nestjs-analytics-relay:sweep';

/** Time between two sweeps, in ms. */
const SWEEP_INTERVAL = 15_000;

/**
 * Removes records past their retention, now and then.
 *
 * Where the application imports `ScheduleModule`, the timer is an interval in its `SchedulerRegistry`, so that the
 * application sees it and can stop it. The module itself is not imported: a second `ScheduleModule` runs each of the
 * application's jobs twice, and a first one starts jobs that the application left off.
 */
export class RetentionSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new LineLogger('WebhookDestination');
  private timer: NodeJS.Timeout | undefined;
  private registry: SchedulerRegistry | undefined;
  private name = SWEEP_INTERVAL_NAME;
  private sweeping = false;
  private stopped = false;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly modules: ModulesContainer,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL);
    this.timer.unref();
    this.registry = findSchedulerRegistry(this.modules);
    if (this.registry) this.register(this.registry, this.timer);
  }

  onModuleDestroy(): void {
    this.stopped = true;
    clearInterval(this.timer);
    if (this.registry?.doesExist('interval', this.name)) this.registry.deleteInterval(this.name);
  }

  /** Never rejects; a queue that fails is tried again at the next interval. */
  private async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      await this.queue.sweep();
    } catch (error) {
      if (this.stopped) return; // the queue closes, which ends a sweep
      this.logger.error(`Old records could not be removed: ${errorMessage(error)}`);
    } finally {
      this.sweeping = false;
    }
  }

  /** Under a free name: an application may import the module more than once. */
  private register(registry: SchedulerRegistry, timer: NodeJS.Timeout): void {
    for (let count = 2; registry.doesExist('interval', this.name); count++) {
      this.name = `${SWEEP_INTERVAL_NAME}:${count}`;
    }
    registry.addInterval(this.name, timer);
  }
}
