import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

import { OptionsError } from '../../common/options.error.js';
import type { DestinationRegistry, DestinationRegistryProvider } from './destination-registry.interface.js';
import { isDestinationRegistry } from './registry.options.js';

/**
 * Resolves the application's registry from any of its modules.
 * @throws {OptionsError} if no module provides the registry or one of its dependencies
 */
export async function resolveRegistry(
  provider: DestinationRegistryProvider,
  moduleRef: ModuleRef,
): Promise<DestinationRegistry> {
  const registry = await instantiate(provider, moduleRef);
  if (isDestinationRegistry(registry)) return registry;
  throw new OptionsError('WebhookDestinationModule', ['registry must have a load() method']);
}

async function instantiate(provider: DestinationRegistryProvider, moduleRef: ModuleRef): Promise<DestinationRegistry> {
  if ('useValue' in provider) return provider.useValue;
  if ('useExisting' in provider) return find<DestinationRegistry>(provider.useExisting, moduleRef);
  if ('useClass' in provider) {
    try {
      return moduleRef.get(provider.useClass, { strict: false });
    } catch {
      return moduleRef.create(provider.useClass);
    }
  }
  const dependencies = (provider.inject ?? []).map((dependency): unknown => {
    const isDetailed = typeof dependency === 'object' && 'token' in dependency;
    if (!isDetailed) return find(dependency, moduleRef);
    try {
      return find(dependency.token, moduleRef);
    } catch (error) {
      if (dependency.optional) return undefined;
      throw error;
    }
  });
  return provider.useFactory(...dependencies);
}

function find<T>(token: InjectionToken, moduleRef: ModuleRef): T {
  try {
    return moduleRef.get<T>(token, { strict: false });
  } catch (error) {
    const name = typeof token === 'function' ? token.name : String(token);
    throw new OptionsError('WebhookDestinationModule', [`registry needs ${name}, which no module provides`], {
      cause: error,
    });
  }
}
