import { isPromise } from 'node:util/types';

import { isObservable, tap } from 'rxjs';

import type { CallContext } from './record-options.interface.js';

type Method = (this: object, ...args: unknown[]) => unknown;

/**
 * The method, and `onEnd` called once with each call's end: its return, the end of its promise, or the completion of
 * its Observable with the last value. What it returns and throws, its name, length and metadata stay as they are.
 */
export function wrapMethod(method: Method, onEnd: (call: CallContext) => void): Method {
  const wrapped: Method = function (...args) {
    const end = (rest: { result: unknown } | { error: unknown }) =>
      onEnd({ args, target: this, result: undefined, ...rest });
    let result: unknown;
    try {
      result = method.apply(this, args);
    } catch (error) {
      end({ error });
      throw error;
    }
    if (isPromise(result)) {
      result.then(
        (value) => end({ result: value }),
        (error: unknown) => end({ error }),
      );
    } else if (isObservable(result)) {
      let last: unknown;
      return result.pipe(
        tap({
          next: (value) => (last = value),
          complete: () => end({ result: last }),
          error: (error: unknown) => end({ error }),
        }),
      );
    } else {
      end({ result });
    }
    return result;
  };
  return disguise(wrapped, method);
}

/** Nest finds routes, guards and parameters in a method's metadata, whatever decorator was applied first. */
function disguise(wrapped: Method, method: Method): Method {
  for (const name of ['name', 'length'] as const) {
    Object.defineProperty(wrapped, name, { value: method[name], configurable: true });
  }
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapped);
  }
  return wrapped;
}
