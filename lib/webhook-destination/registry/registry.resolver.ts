import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';

import { OptionsError } from '../../common/options.error.js';
import type { DestinationRegistry, DestinationRegistryProvider } from './destination-registry.interface.js';
import { isDestinationRegistry } from './registry.options.js';

/**
 * Resolves the application's registry from any of its modules.
 * @throws {OptionsError} if no module provides the registry or one of its dependencies, or if it is not a registry
 */
export async function resolveRegistry(
  provider: DestinationRegistryProvider,
  moduleRef: ModuleRef,
): Promise<DestinationRegistry> {
  const registry = await instantiate(provider, moduleRef);
  if (!isDestinationRegistry(registry)) {
    throw new OptionsError('WebhookDestinationModule', ['registry must have a load() method']);
  }
  const { changes$ } = registry;
  if (changes$ && typeof (changes$ as Partial<typeof changes$>).subscribe !== 'function') {
    throw new OptionsError('WebhookDestinationModule', ['changes$ of the registry must be an Observable']);
  }
  return registry;
}

async function instantiate(provider: DestinationRegistryProvider, moduleRef: ModuleRef): Promise<unknown> {
  if ('useValue' in provider) return provider.useValue;
  if ('useExisting' in provider) return find(provider.useExisting, moduleRef);
  if ('useClass' in provider) {
    try {
      return moduleRef.get(provider.useClass, { strict: false });
    } catch {
      return moduleRef.create(provider.useClass);
    }
  }
  const dependencies = (provider.inject ?? []).map((dependency): unknown => {
    const isDetailed = typeof dependency === 'object' && 'token' in dependency;
    return isDetailed ? find(dependency.token, moduleRef, dependency.optional) : find(dependency, moduleRef);
  });
  return provider.useFactory(...dependencies);
}

function find(token: InjectionToken, moduleRef: ModuleRef, isOptional = false): unknown {
  try {
    return moduleRef.get(token, { strict: false });
  } catch (error) {
    if (isOptional) return undefined;
    const name = typeof token === 'function' ? token.name : String(token);
    throw new OptionsError('WebhookDestinationModule', [`registry needs ${name}, which no module provides`], {
      cause: error,
    });
  }
}
