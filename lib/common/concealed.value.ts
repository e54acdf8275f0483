import type { DynamicModule, Provider } from '@nestjs/common';

let count = 0;

/** Holds what has secrets in it, so that no inspection, log or JSON of the objects around it shows them. */
export class Concealed<T> {
  /** Tells it from others where modules are told apart by their JSON (`moduleIdGeneratorAlgorithm: 'deep-hash'`). */
  readonly id = ++count;
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }
}

/** The module with its options concealed: what is injected by the token is a `Concealed` of them. */
export function concealOptions(module: DynamicModule, token: symbol): DynamicModule {
  return { ...module, providers: module.providers?.map((provider) => concealProvider(provider, token)) };
}

function concealProvider(provider: Provider, token: symbol): Provider {
  if (!('provide' in provider) || provider.provide !== token) return provider;
  if ('useValue' in provider) return { ...provider, useValue: new Concealed<unknown>(provider.useValue) };
  if (!('useFactory' in provider)) return provider;
  const { useFactory: create } = provider;
  return { ...provider, useFactory: async (...args: unknown[]) => new Concealed<unknown>(await create(...args)) };
}

/** An object with the methods of another whose state has secrets in it; nothing but the methods reaches that. */
export function concealState<T extends object>(object: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object)) as (keyof T)[];
  const methods = names.filter((name) => name !== 'constructor' && typeof object[name] === 'function');
  return Object.fromEntries(
    methods.map((name) => [name, (object[name] as (...args: unknown[]) => unknown).bind(object)]),
  ) as T;
}
