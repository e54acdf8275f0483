import { OptionsError } from '../../common/options.error.js';
import { runInScope, scopeOfCall } from '../context/context-scope.js';
import type { CallContext } from './record-options.interface.js';
import { type Ended, followResult } from './result.follower.js';

type Method = (this: object, ...args: unknown[]) => unknown;

/** Called at the end of a call; returns whether the decorator waits for this kind of end. */
type OnEnd = (call: CallContext) => boolean;

/**
 * Wraps a method: `onEnd`, if the target has one, is called at the end of each call. The method's results, errors,
 * name, length and metadata stay as they are.
 *
 * @param subject Names the method in a warning.
 */
export function wrapMethod(
  method: Method,
  onEndFor: (target: object | undefined) => OnEnd | undefined,
  subject: string,
): Method {
  const wrapped: Method = function (...args) {
    const onEnd = onEndFor(this);
    if (!onEnd) return method.apply(this, args);
    const scope = scopeOfCall();
    // A stream may end while another request's code runs.
    const end = (ended: Ended) =>
      runInScope(scope, () =>
        onEnd({ args, target: this, request: scope.origin?.request, result: undefined, ...ended }),
      );
    return runInScope(scope, () => {
      let result: unknown;
      try {
        result = method.apply(this, args);
      } catch (error) {
        end({ error });
        throw error;
      }
      return followResult(result, end, subject);
    });
  };
  return disguise(wrapped, method);
}

/**
 * Copies properties and metadata, because Nest reads routes, guards and parameters there, in any order of decorators.
 */
export function disguise(wrapped: Method, method: Method): Method {
  for (const name of Reflect.ownKeys(method)) {
    if (name !== 'prototype') Object.defineProperty(wrapped, name, Object.getOwnPropertyDescriptor(method, name)!);
  }
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapped);
  }
  return wrapped;
}

/**
 * Refuses a decorator that was compiled as one of the standard: it is called with the method and an object that
 * describes it, and without its class.
 *
 * @throws {OptionsError} that names the missing compiler option
 */
export function refuseStandardDecorator(key: unknown): void {
  if (typeof key !== 'object' || key === null) return;
  const rule =
    'analytics decorators, like those of Nest, need the compiler option experimentalDecorators: set it to true in ' +
    'compilerOptions of tsconfig.json, or its equivalent in your build tool';
  throw new OptionsError(String((key as { name?: unknown }).name), [rule]);
}
