import type { ModuleRef } from '@nestjs/core';

/** Returns what the modules of the application provide with this token. */
export function findProviders<T>(moduleRef: ModuleRef, token: symbol): T[] {
  try {
    return moduleRef.get<T>(token, { strict: false, each: true });
  } catch {
    return []; // no module provides it
  }
}
