import { isPromise } from 'node:util/types';

import { defer, EMPTY, isObservable, type Observable, tap } from 'rxjs';

import { isThenable } from '../../client/event/user-code.caller.js';
import { followAsyncIterable, isAsyncIterable } from './async-iterable.follower.js';
import { replaceUntilUsed } from './replaced-method.util.js';

/** How a call ended. */
export type Ended = { result: unknown } | { error: unknown };

/** Called at the end of a call; returns whether the decorator waits for this kind of end. */
export type OnEnded = (ended: Ended) => boolean;

type OnSettled = ((value: unknown) => unknown) | null | undefined;

interface Thenable {
  then(onKept?: OnSettled, onBroken?: OnSettled): unknown;
}

/**
 * Calls `onEnded` when a method's promise, Observable or async iterable ends; immediately for any other result. Returns
 * a replacement that is used like the result.
 */
export function followResult(result: unknown, onEnded: OnEnded): unknown {
  if (isPromise(result)) return followPromise(result, onEnded);
  if (isObjectLike(result)) {
    try {
      if (isPlainObservable(result)) return followObservable(result, onEnded);
      if (isThenable(result) && followThenable(result, onEnded)) return result;
      if (isAsyncIterable(result) && followAsyncIterable(result, onEnded)) return result;
    } catch {
      // An object that throws when inspected, such as a strict proxy, counts as a value.
    }
  }
  onEnded({ result });
  return result;
}

function isObjectLike(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/**
 * Returns a promise with further members unchanged. Replaces a plain promise, so that an unhandled rejection still
 * surfaces.
 */
function followPromise(promise: Promise<unknown>, onEnded: OnEnded): Promise<unknown> {
  const waiting = settle(promise, onEnded);
  if (promise.constructor === Promise && Object.getOwnPropertyNames(promise).length === 0) return waiting;
  waiting.catch(() => undefined);
  return promise;
}

async function settle(promise: Promise<unknown>, onEnded: OnEnded): Promise<unknown> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    onEnded({ error });
    throw error;
  }
  onEnded({ result });
  return result;
}

/** Own members of any Observable, with and without operators. */
const OBSERVABLE_MEMBERS = new Set(
  [EMPTY, EMPTY.pipe(tap({}))].flatMap((observable) => Object.getOwnPropertyNames(observable)),
);

/** Excludes Subjects, other subclasses and those with fields: they have further members, and may not end with the call. */
export function isPlainObservable(value: object): value is Observable<unknown> {
  if (!isObservable(value) || !Object.prototype.hasOwnProperty.call(Object.getPrototypeOf(value), 'pipe')) return false;
  return Object.getOwnPropertyNames(value).every((name) => OBSERVABLE_MEMBERS.has(name));
}

/**
 * Calls `onEnded` once, for any number of subscriptions: with the last value at completion or unsubscription, or with
 * the error.
 */
function followObservable(observable: Observable<unknown>, onEnded: OnEnded): Observable<unknown> {
  let hasEnded = false;
  const end = (ended: Ended) => {
    hasEnded ||= onEnded(ended);
  };
  return defer(() => {
    let last: { result: unknown } | undefined;
    return observable.pipe(
      tap({
        next: (value) => (last = { result: value }),
        complete: () => end(last ?? { result: undefined }),
        error: (error: unknown) => end({ error }),
        unsubscribe: () => last && end(last),
      }),
    );
  });
}

/** Follows only the caller's own `then`: queries of some libraries run each time `then` is called. */
function followThenable(thenable: Thenable, onEnded: OnEnded): boolean {
  return replaceUntilUsed(
    thenable,
    'then',
    (then: Thenable['then']) => (onKept?: OnSettled, onBroken?: OnSettled) =>
      then.call(
        thenable,
        (result: unknown) => {
          onEnded({ result });
          return onKept ? onKept(result) : result;
        },
        (error: unknown) => {
          onEnded({ error });
          if (onBroken) return onBroken(error);
          throw error;
        },
      ),
  );
}
