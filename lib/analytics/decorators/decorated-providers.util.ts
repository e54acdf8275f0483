import { Inject, Optional, type Type } from '@nestjs/common';
import { ModuleRef, type ModulesContainer } from '@nestjs/core';

import { errorMessage } from '../../client/error.util.js';
import { foundOnce } from '../../common/found-once.util.js';
import { LineLogger } from '../../common/line.logger.js';
import type { AnalyticsService } from '../analytics.service.js';
import { getAnalyticsToken } from '../analytics.tokens.js';
import { findInstanceNames } from '../imported-instances.util.js';
import { DEFAULT_INSTANCE } from '../instance.options.js';
import { type DecoratedMethod, decoratedMethodsOf } from './decorated-methods.registry.js';
import { giveHidden } from './hidden-instance.util.js';

type Module = NonNullable<ReturnType<ModulesContainer['get']>>;
type Provider = NonNullable<ReturnType<Module['providers']['get']>>;
type Factory = (...dependencies: unknown[]) => unknown;

/** Finds an instance by name, if the providers of one module can inject it. */
type InstanceFinder = (name: string) => Promise<AnalyticsService | undefined>;

const connected = new WeakSet<ModulesContainer>();
const logger = new LineLogger('AnalyticsDecorator');

/**
 * Connects the decorators of an application once its providers exist. Nest injects nothing into providers made by
 * `useFactory` or `useValue`, so they receive their instances here. Warns about decorators whose instance does not
 * exist, or cannot be injected into their module.
 */
export async function connectDecoratedProviders(modules: ModulesContainer): Promise<void> {
  if (connected.has(modules)) return;
  connected.add(modules);
  const unconnected = new Set<DecoratedMethod>();
  for (const module of modules.values()) {
    const find = finderOf(module);
    for (const provider of [module.providers, module.injectables, module.controllers].flatMap(providersIn)) {
      for (const object of objectsOf(provider)) {
        const missed = await connect(object, find, isConstructed(provider));
        missed.forEach((method) => unconnected.add(method));
      }
      const isMadeAgain = provider.isTransient || !provider.isDependencyTreeStatic();
      if (provider.isFactory && isMadeAgain) connectLater(provider, find);
    }
  }
  const names = findInstanceNames(modules);
  for (const { subject, instance } of unconnected) {
    logger.warn(`${subject} is not recorded: ${whyUnconnected(instance, names)}`);
  }
}

/** Returns the providers of a collection, without aliases. */
const providersIn = (collection: Map<unknown, Provider>): Provider[] =>
  [...collection.values()].filter(({ isAlias }) => !isAlias);

/** Whether Nest constructs the provider's objects, and thus injects into them. */
const isConstructed = (provider: Provider): boolean => !provider.isNotMetatype;

function whyUnconnected(instance: string, names: string[]): string {
  const name = JSON.stringify(instance);
  const known = names.map((other) => JSON.stringify(other)).join(', ');
  if (names.includes(instance)) return `its module does not import AnalyticsModule ${name}, which is not global`;
  return instance === DEFAULT_INSTANCE
    ? `the application has no default AnalyticsModule. Set instance to one of: ${known}`
    : `no AnalyticsModule has the name ${name} (known names: ${known})`;
}

/** Returns the existing objects of a provider; for a class whose objects are made later, an empty one. */
function objectsOf(provider: Provider): unknown[] {
  if (!provider.isTransient || isConstructed(provider)) return [provider.instance];
  return provider.getStaticTransientInstances().map((host): unknown => host?.instance);
}

/**
 * Replaces a factory that runs for each request or consumer, as Nest does in tests, so that its objects get their
 * instances.
 */
function connectLater(provider: Provider, find: InstanceFinder): void {
  const factory = provider.metatype as Factory;
  const connecting: Factory = async (...dependencies) => {
    const object = await factory(...dependencies);
    await connect(object, find, false);
    return object;
  };
  provider.mergeWith({ provide: provider.token, useFactory: connecting, inject: provider.inject ?? [] });
}

/**
 * Gives an object the instances of its decorated methods, unless Nest has injected them. Resolves with the methods
 * without an instance.
 */
async function connect(object: unknown, find: InstanceFinder, isInjected: boolean): Promise<DecoratedMethod[]> {
  const missed: DecoratedMethod[] = [];
  for (const method of decoratedMethodsOf(object)) {
    try {
      const analytics = await find(method.instance);
      if (!analytics) missed.push(method);
      else if (!isInjected) giveHidden(object as object, method.instance, analytics);
    } catch (error) {
      logger.warn(`${method.subject} is not recorded: ${errorMessage(error)}`);
    }
  }
  return missed;
}

/**
 * Resolves instances by injecting them into a class of the module: from its own providers, imports and global modules.
 */
function finderOf(module: Module): InstanceFinder {
  const moduleRef = module.providers.get(ModuleRef)?.instance as ModuleRef;
  return foundOnce(async (name: string) => (await moduleRef.create(injectedWith(name))).analytics);
}

function injectedWith(name: string): Type<{ analytics?: AnalyticsService }> {
  class Injected {
    analytics?: AnalyticsService;
  }
  Inject(getAnalyticsToken(name))(Injected.prototype, 'analytics');
  Optional()(Injected.prototype, 'analytics');
  return Injected;
}
