import { Observable } from 'rxjs';

import { isPlainObservable } from '../decorators/result.follower.js';
import { type ContextScope, scopes } from './context-scope.js';

/**
 * Runs a function in a new scope. An Observable or generator that it returns runs later, when it is subscribed to or
 * iterated, and then in the same scope.
 */
export function openScope<T>(scope: ContextScope, run: () => T): T {
  const result = scopes.run(scope, run);
  if (typeof result !== 'object' || result === null) return result;
  if (isPlainObservable(result)) {
    return new Observable((subscriber) => scopes.run(scope, () => result.subscribe(subscriber))) as T;
  }
  if (/^\[object (Async)?Generator\]$/.test(Object.prototype.toString.call(result))) {
    for (const name of ['next', 'return', 'throw'] as const) {
      const step = Reflect.get(result, name) as (...args: unknown[]) => unknown;
      const value = (...args: unknown[]) => scopes.run(scope, () => step.apply(result, args));
      Object.defineProperty(result, name, { value, configurable: true, writable: true });
    }
  }
  return result;
}
