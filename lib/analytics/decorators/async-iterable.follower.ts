import type { OnEnded } from './result.follower.js';

type Step = IteratorResult<unknown> | undefined;

const STEPS = ['next', 'return', 'throw'] as const;

/** Whether a value is read by iterating. Streams are usually piped, so they are excluded. */
export function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  const { pipe, pipeTo, [Symbol.asyncIterator]: iterate } = value as Record<PropertyKey, unknown>;
  return typeof iterate === 'function' && typeof pipe !== 'function' && typeof pipeTo !== 'function';
}

/** Calls `onEnded` once, with the last value, when the first iteration ends. Returns false if that is impossible. */
export function followAsyncIterable(iterable: AsyncIterable<unknown>, onEnded: OnEnded): boolean {
  if (hasNext(iterable)) return isOwnIterator(iterable) && followIterator(iterable, onEnded);
  return replaceUntilUsed(iterable, Symbol.asyncIterator, (iterate: () => AsyncIterator<unknown>) => () => {
    const iterator = iterate.call(iterable);
    followIterator(iterator, onEnded);
    return iterator;
  });
}

function hasNext(value: object): value is AsyncIterator<unknown> & AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterator<unknown>>).next === 'function';
}

/**
 * Whether an iterable is its own iterator, as generators are: it may be stepped without a call of
 * `Symbol.asyncIterator`. `next` of any other, such as a database cursor, has a meaning of its own.
 */
function isOwnIterator(value: AsyncIterator<unknown> & AsyncIterable<unknown>): boolean {
  return value[Symbol.asyncIterator]() === value;
}

function followIterator(iterator: AsyncIterator<unknown>, onEnded: OnEnded): boolean {
  let last: unknown;
  let hasEnded = false;
  const end: OnEnded = (ended) => {
    if (hasEnded) return false;
    hasEnded = true;
    return onEnded(ended);
  };
  return STEPS.filter((name) => typeof iterator[name] === 'function').every((name) => {
    const original = Reflect.get(iterator, name) as (...args: unknown[]) => Promise<Step>;
    const value = async (...args: unknown[]): Promise<Step> => {
      let step: Step;
      try {
        step = await original.apply(iterator, args);
      } catch (error) {
        end({ error });
        throw error;
      }
      if (step?.done || name === 'return') end({ result: last });
      else last = step?.value;
      return step;
    };
    return Reflect.defineProperty(iterator, name, { value, configurable: true, writable: true, enumerable: false });
  });
}

/** Replaces a method of one object for its first call only. Returns false if the object cannot be changed. */
function replaceUntilUsed<Method extends (...args: never[]) => unknown>(
  object: object,
  key: PropertyKey,
  replace: (original: Method) => Method,
): boolean {
  const own = Object.getOwnPropertyDescriptor(object, key);
  const original = (object as Record<PropertyKey, unknown>)[key] as Method;
  const value = (...args: never[]): unknown => {
    if (own) Object.defineProperty(object, key, own);
    else Reflect.deleteProperty(object, key);
    return replace(original)(...args);
  };
  return Reflect.defineProperty(object, key, { value, configurable: true, writable: true, enumerable: false });
}
