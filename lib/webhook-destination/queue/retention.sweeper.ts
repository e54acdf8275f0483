import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';

import { describe } from '../../common/error.util.js';
import type { DeliveryQueue } from './delivery-queue.interface.js';

/** Name of the interval in the registry of `@nestjs/schedule`. */
export const SWEEP_INTERVAL_NAME = 'nestjs-analytics-relay:sweep';

/** Time between two sweeps, in ms. */
const SWEEP_INTERVAL = 15_000;

/**
 * Removes records past their retention, now and then.
 *
 * It is a dynamic interval of `@nestjs/schedule`, in the host's registry where the host has one, so that the host sees
 * it and can stop it. The module itself is not imported: a second `ScheduleModule` runs each of the host's jobs twice,
 * and a first one starts jobs that the host left off.
 */
export class RetentionSweeper implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('WebhookDestination');
  private name: string | undefined;
  private sweeping = false;
  private stopped = false;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly registry: SchedulerRegistry = new SchedulerRegistry(),
  ) {}

  onApplicationBootstrap(): void {
    const timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL);
    timer.unref();
    this.name = this.freeName();
    this.registry.addInterval(this.name, timer);
  }

  onModuleDestroy(): void {
    this.stopped = true;
    if (this.name !== undefined && this.registry.doesExist('interval', this.name)) {
      this.registry.deleteInterval(this.name);
    }
  }

  /** Never rejects; a queue that fails is tried again at the next interval. */
  private async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      await this.queue.sweep();
    } catch (error) {
      if (this.stopped) return; // the queue closes, which ends a sweep
      this.logger.error(`Old records could not be removed: ${describe(error)}`);
    } finally {
      this.sweeping = false;
    }
  }

  /** An application may import the module more than once. */
  private freeName(): string {
    let name = SWEEP_INTERVAL_NAME;
    for (let count = 2; this.registry.doesExist('interval', name); count++) name = `${SWEEP_INTERVAL_NAME}:${count}`;
    return name;
  }
}
