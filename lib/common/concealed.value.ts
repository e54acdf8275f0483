import type { DynamicModule, Provider } from '@nestjs/common';

let count = 0;

/** Holds a value with secrets, so that no inspection, log or JSON of the surrounding objects shows them. */
export class Concealed<T> {
  /** Distinguishes modules that Nest identifies by their JSON (`moduleIdGeneratorAlgorithm: 'deep-hash'`). */
  readonly id = ++count;
  /** A closure holds the value, because a private field cannot be read through a proxy of the object. */
  readonly reveal: () => T;

  constructor(value: T) {
    this.reveal = () => value;
  }
}

/** Returns the module with concealed options: the token injects them as a `Concealed`. */
export function concealOptions(module: DynamicModule, token: symbol): DynamicModule {
  return { ...module, providers: module.providers?.map((provider) => concealProvider(provider, token)) };
}

function concealProvider(provider: Provider, token: symbol): Provider {
  if (!('provide' in provider) || provider.provide !== token) return provider;
  if ('useValue' in provider) return { ...provider, useValue: new Concealed<unknown>(provider.useValue) };
  if (!('useFactory' in provider)) return provider;
  const { useFactory: create } = provider;
  const concealing = async (...args: unknown[]) => new Concealed<unknown>(await create(...args));
  const original = new Concealed(create); // otherwise, 'deep-hash' would take all factories for the same one
  return Object.assign({ ...provider, useFactory: concealing }, { original });
}

/** Returns an object with the methods of another object, but without its state, which contains secrets. */
export function concealState<T extends object>(object: T): T {
  const methods: [string, unknown][] = [];
  for (let type: object = object; (type = Object.getPrototypeOf(type) as object) !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(type)) {
      const method = object[name as keyof T];
      if (name !== 'constructor' && typeof method === 'function') methods.unshift([name, method.bind(object)]);
    }
  }
  return Object.fromEntries(methods) as T;
}
