import type { ModulesContainer } from '@nestjs/core';

/** The part of `SchedulerRegistry` from `@nestjs/schedule` that is used here. */
export interface SchedulerRegistry {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
}

/**
 * Finds the registry of the application's `ScheduleModule`, if it imports one.
 *
 * The lookup is by class name: `@nestjs/schedule` is optional, and importing it here might load another copy than the
 * application's, or fail (version 12 has ES modules only, which Jest cannot load in CommonJS).
 */
export function findSchedulerRegistry(modules: ModulesContainer): SchedulerRegistry | undefined {
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
