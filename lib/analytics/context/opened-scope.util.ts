import { Observable } from 'rxjs';

import { isPlainObservable } from '../decorators/result.follower.js';
import { type ContextScope, scopes } from './context-scope.js';

/** Runs a function in a new scope, with the Observable or generator that it returns. */
export function openScope<T>(scope: ContextScope, run: () => T): T {
  return bindToScope(scope, scopes.run(scope, run));
}

/**
 * Returns a value that runs in the scope, if it is an Observable or a generator: such a value runs later, when it is
 * subscribed to or iterated.
 */
export function bindToScope<T>(scope: ContextScope, value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (isPlainObservable(value)) {
    return new Observable((subscriber) => scopes.run(scope, () => value.subscribe(subscriber))) as T;
  }
  if (/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(value))) {
    for (const name of ['next', 'return', 'throw'] as const) {
      const step = Reflect.get(value, name) as (...args: unknown[]) => unknown;
      const bound = (...args: unknown[]) => scopes.run(scope, () => step.apply(value, args));
      Object.defineProperty(value, name, { value: bound, configurable: true, writable: true });
    }
  }
  return value;
}
