import type { ModulesContainer } from '@nestjs/core';

/** As much of the `SchedulerRegistry` of `@nestjs/schedule` as is used here. */
export interface SchedulerRegistry {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
}

/**
 * The registry of the application's `ScheduleModule`, if it imports one.
 *
 * It is found by the name of its class: `@nestjs/schedule` is optional, and the copy that this package would load need
 * not be the application's, nor load at all (version 12 is ES modules only, which Jest cannot load in CommonJS).
 */
export function findSchedulerRegistry(modules: ModulesContainer): SchedulerRegistry | undefined {
  for (const { providers } of modules.values()) {
    for (const [token, { instance }] of providers) {
      if (typeof token === 'function' && token.name === 'SchedulerRegistry' && isRegistry(instance)) return instance;
    }
  }
  return undefined;
}

/** An application may have a class of that name that is something else. */
function isRegistry(instance: unknown): instance is SchedulerRegistry {
  const { doesExist, addInterval, deleteInterval } = (instance ?? {}) as Partial<SchedulerRegistry>;
  return [doesExist, addInterval, deleteInterval].every((method) => typeof method === 'function');
}
