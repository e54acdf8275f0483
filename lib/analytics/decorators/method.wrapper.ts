import { runInScope, scopes } from '../context/context-scope.js';
import type { CallContext } from './record-options.interface.js';
import { type Ended, followResult } from './result.follower.js';

type Method = (this: object, ...args: unknown[]) => unknown;

/** Called at the end of a call; returns whether it is the awaited end. */
type OnEnd = (call: CallContext) => boolean;

/**
 * The method; `onEnd`, where there is one for the instance, is called at the end of each call.
 * What the method returns and throws, its name, length and metadata stay as they are.
 */
export function wrapMethod(method: Method, onEndFor: (target: object | undefined) => OnEnd | undefined): Method {
  const wrapped: Method = function (...args) {
    const onEnd = onEndFor(this);
    if (!onEnd) return method.apply(this, args);
    const scope = scopes.getStore() ?? {};
    // A stream may end in code of another request.
    const end = (ended: Ended) =>
      runInScope(scope, () => onEnd({ args, target: this, request: scope.request, result: undefined, ...ended }));
    return runInScope(scope, () => {
      let result: unknown;
      try {
        result = method.apply(this, args);
      } catch (error) {
        end({ error });
        throw error;
      }
      return followResult(result, end);
    });
  };
  return disguise(wrapped, method);
}

/** Nest finds routes, guards and parameters in a method's metadata, whatever decorator was applied first. */
function disguise(wrapped: Method, method: Method): Method {
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(method))) {
    if (name !== 'prototype') Object.defineProperty(wrapped, name, property);
  }
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapped);
  }
  return wrapped;
}
