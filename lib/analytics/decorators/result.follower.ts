import { isPromise } from 'node:util/types';

import { defer, EMPTY, isObservable, type Observable, tap } from 'rxjs';

import { isThenable } from '../../client/event/user-code.caller.js';
import { followAsyncIterable, isAsyncIterable } from './async-iterable.follower.js';
import { followThenable, isLazyPromise } from './thenable.follower.js';

/** How a call ended. */
export type Ended = { result: unknown } | { error: unknown };

/** Called at the end of a call; returns whether the decorator waits for this kind of end. */
export type OnEnded = (ended: Ended) => boolean;

/**
 * Calls `onEnded` when a method's promise, Observable or async iterable ends; immediately for any other result. Returns
 * a replacement that is used like the result.
 *
 * @param subject Names the method in a warning.
 */
export function followResult(result: unknown, onEnded: OnEnded, subject: string): unknown {
  if (isPromise(result) && !isLazyPromise(result)) return followPromise(result, onEnded, subject);
  if (isObjectLike(result)) {
    const follow = (later: unknown) => followResult(later, onEnded, subject);
    try {
      if (isPlainObservable(result)) return followObservable(result, onEnded);
      if (isThenable(result) && followThenable(result, onEnded, subject, follow)) return result;
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
function followPromise(promise: Promise<unknown>, onEnded: OnEnded, subject: string): Promise<unknown> {
  const isReplaced = promise.constructor === Promise && Object.getOwnPropertyNames(promise).length === 0;
  const waiting = settle(promise, onEnded, isReplaced ? subject : undefined);
  if (isReplaced) return waiting;
  waiting.catch(() => undefined);
  return promise;
}

/** @param subject Set if the caller gets the returned promise, so that a stream in it can be replaced and followed. */
async function settle(promise: Promise<unknown>, onEnded: OnEnded, subject: string | undefined): Promise<unknown> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    onEnded({ error });
    throw error;
  }
  if (subject !== undefined) return followResult(result, onEnded, subject);
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
