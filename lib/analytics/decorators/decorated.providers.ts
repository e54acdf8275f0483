import { Inject, Logger, Optional, type Type } from '@nestjs/common';
import { ModuleRef, type ModulesContainer } from '@nestjs/core';

import { describe } from '../../common/error.util.js';
import type { AnalyticsService } from '../analytics.service.js';
import { getAnalyticsToken, instanceNameOf } from '../analytics.tokens.js';
import { type DecoratedMethod, decoratedMethodsOf } from './decorated.methods.js';
import { giveHidden } from './hidden.instance.js';

type Module = NonNullable<ReturnType<ModulesContainer['get']>>;
type Provider = NonNullable<ReturnType<Module['providers']['get']>>;
type Factory = (...dependencies: unknown[]) => unknown;

/** Finds an instance by its name, as the providers of one module can inject it. */
type InstanceFinder = (name: string) => Promise<AnalyticsService | undefined>;

const connected = new WeakSet<ModulesContainer>();
const logger = new Logger('AnalyticsDecorator');

/** Names of the instances that an application has. */
export function findInstanceNames(modules: ModulesContainer): string[] {
  const tokens = [...modules.values()].flatMap(({ providers }) => [...providers.keys()]);
  return [...new Set(tokens.map(instanceNameOf).filter((name) => name !== undefined))];
}

/**
 * Completes the decorators of an application, once its providers are there: gives those made by `useFactory` or
 * `useValue`, which Nest injects nothing into, the instances that they record with, and warns of decorators that name an
 * instance which the application does not have.
 */
export async function connectDecoratedProviders(modules: ModulesContainer): Promise<void> {
  if (connected.has(modules)) return;
  connected.add(modules);
  const decorated = new Set<DecoratedMethod>();
  for (const module of modules.values()) {
    const find = finderOf(module);
    for (const provider of [module.providers, module.injectables, module.controllers].flatMap(providersIn)) {
      const objects = isConstructed(provider) ? [] : objectsOf(provider);
      for (const object of [provider.metatype?.prototype, ...objects] as unknown[]) {
        decoratedMethodsOf(object).forEach((method) => decorated.add(method));
      }
      for (const object of objects) await connect(object, find);
      if (provider.isFactory && isMadeAgain(provider)) connectLater(provider, find);
    }
  }
  warnOfUnknown(decorated, findInstanceNames(modules));
}

/** The providers of a collection, without those that stand for another one. */
const providersIn = (collection: Map<unknown, Provider>): Provider[] =>
  [...collection.values()].filter(({ isAlias }) => !isAlias);

/** Whether Nest constructs what it provides, and so injects into it. */
const isConstructed = (provider: Provider): boolean => !provider.isNotMetatype;

const isMadeAgain = (provider: Provider): boolean => provider.isTransient || !provider.isDependencyTreeStatic();

function warnOfUnknown(decorated: Iterable<DecoratedMethod>, names: string[]): void {
  const known = names.map((name) => JSON.stringify(name)).join(', ');
  for (const { subject, instance } of decorated) {
    if (names.includes(instance)) continue;
    const name = JSON.stringify(instance);
    logger.warn(`${subject} is not recorded: no AnalyticsModule has the name ${name} (known names: ${known})`);
  }
}

/** What a provider holds that is made by now. */
function objectsOf(provider: Provider): unknown[] {
  if (!provider.isTransient) return [provider.instance];
  return provider.getStaticTransientInstances().map((host): unknown => host?.instance);
}

/** Lets a factory that runs again, for each request or consumer, give what it makes its instances. */
function connectLater(provider: Provider, find: InstanceFinder): void {
  const factory = provider.metatype as Factory;
  const connecting: Factory = async (...dependencies) => {
    const object = await factory(...dependencies);
    await connect(object, find);
    return object;
  };
  provider.metatype = connecting;
}

async function connect(object: unknown, find: InstanceFinder): Promise<void> {
  for (const { subject, instance } of decoratedMethodsOf(object)) {
    try {
      const analytics = await find(instance);
      if (analytics) giveHidden(object as object, instance, analytics);
    } catch (error) {
      logger.warn(`${subject} is not recorded: ${describe(error)}`);
    }
  }
}

/** Asks Nest, by the injection of a class in that module: the module's own providers, its imports and global modules. */
function finderOf(module: Module): InstanceFinder {
  const moduleRef = module.providers.get(ModuleRef)?.instance as ModuleRef;
  const found = new Map<string, Promise<AnalyticsService | undefined>>();
  return (name) => {
    let instance = found.get(name);
    if (!instance) {
      instance = moduleRef.create(injectedWith(name)).then(({ analytics }) => analytics);
      found.set(name, instance);
    }
    return instance;
  };
}

function injectedWith(name: string): Type<{ analytics?: AnalyticsService }> {
  class Injected {
    analytics?: AnalyticsService;
  }
  Inject(getAnalyticsToken(name))(Injected.prototype, 'analytics');
  Optional()(Injected.prototype, 'analytics');
  return Injected;
}
