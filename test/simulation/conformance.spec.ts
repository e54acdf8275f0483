import { Logger } from '@nestjs/common';
import { DeliveryQueue, type DeliveryStore } from 'nestjs-analytics-relay';
import { vi } from 'vitest';

import { itConforms, type QueueEngine } from '../webhook-destination/queue/conformance/delivery-queue.conformance.js';
import { itSearches } from '../webhook-destination/queue/conformance/delivery-search.conformance.js';
import { itKeepsARegistry } from '../webhook-destination/queue/conformance/registry-store.conformance.js';
import { itKeepsSeries } from '../webhook-destination/queue/conformance/series-store.conformance.js';
import { loadPackage } from './package-under-test.js';
import { SimulatedDatabase } from './simulated-database.js';
import { SimulatedStore } from './simulated.store.js';
import { type Machine, type SimulatedProcess, Simulation } from './simulation.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const code = await loadPackage();

/** A simulation in real time. */
class RealTime extends Simulation {
  override now = performance.now();

  override timeOf({ clockOffset }: Machine): number {
    return Date.now() + clockOffset;
  }
}

/** The simulated database, whose steps run in real time: what it promises is what each other store must keep, too. */
const engineOf = (isShared: boolean): QueueEngine => ({
  name: isShared ? 'a simulated database that processes share' : 'a simulated embedded database',
  isShared,
  create: (given) => {
    const { retention } = code.toQueueOptions('simulation', code.QueueOptions, { retention: given }, () => Infinity);
    const simulation = new RealTime(1);
    const database = new SimulatedDatabase(simulation, code, isShared, retention, Infinity, undefined);
    let isOver = false;
    const go = async () => {
      while (!isOver) {
        await simulation.run(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    void go();
    const factory = () => {
      const process: SimulatedProcess = {
        machine: { name: 'machine', clockOffset: 0 },
        isAlive: true,
        frozenUntil: 0,
        values: new Map(),
      };
      const store: unknown = new SimulatedStore(database, process); // of lib/, where the queue is of the package
      return new DeliveryQueue(store as DeliveryStore, retention);
    };
    return Promise.resolve({
      factory: Object.assign(factory, { isShared }),
      remove: () => {
        isOver = true;
        return Promise.resolve();
      },
    });
  },
});

for (const engine of [engineOf(true), engineOf(false)]) {
  itConforms(engine);
  itKeepsARegistry(engine);
  itSearches(engine);
  itKeepsSeries(engine);
}
