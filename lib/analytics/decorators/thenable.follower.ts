import { LimitedLogger } from '../../common/limited.logger.js';
import type { OnEnded } from './result.follower.js';

type OnSettled = ((value: unknown) => unknown) | null | undefined;
type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Thenable {
  then(onKept?: OnSettled, onBroken?: OnSettled): unknown;
}

/**
 * Methods besides `then` and `catch` that run a query: of Prisma (`finally`, `requestTransaction`, which `$transaction`
 * calls), mongoose (`exec`, `cursor`), drizzle (`execute`), knex (`stream`) and postgres.js. Others call one of them.
 */
const RUNNING = ['finally', 'requestTransaction', 'exec', 'execute', 'stream', 'forEach', 'cursor'];

/** Methods that do so of a query with `execute`: of drizzle. In mongoose, some of them only read the query. */
const RUNNING_BESIDE_EXECUTE = ['run', 'all', 'get', 'values', 'sync'];

const logger = new LimitedLogger('AnalyticsDecorator');

/** Names the methods whose results were never run by a method that is followed. */
const unused = new FinalizationRegistry((subject: string) =>
  logger.once(
    `${subject} was not recorded: the query that it returned was dropped without a call of then, catch, ` +
      `${RUNNING.join(', ')}. Await the query in the method`,
  ),
);

/** Whether a promise has a `then` of its own, which runs it: awaiting it here would run it before its caller does. */
export function isLazyPromise(promise: Promise<unknown>): boolean {
  let holder: object = promise;
  while (!Object.prototype.hasOwnProperty.call(holder, 'then')) holder = Object.getPrototypeOf(holder) as object;
  const parent = Object.getPrototypeOf(holder) as object | null;
  return parent !== null && 'then' in parent; // `Promise.prototype` is the last holder, in each realm
}

/**
 * Calls `onEnded` when the thenable has run, by the first of its methods that runs it. Follows only calls of the
 * caller, because queries of some libraries run each time. Returns false if that is impossible.
 *
 * @param subject Names the method in the warning about a query that is not followed.
 * @param follow Follows the result of any method but `then` and `catch`.
 */
export function followThenable(
  thenable: Thenable,
  onEnded: OnEnded,
  subject: string,
  follow: (result: unknown) => unknown,
): boolean {
  const members = thenable as unknown as Record<string, unknown>;
  const originals = new Map<string, PropertyDescriptor | undefined>();
  const restore = (): void => {
    for (const [name, own] of originals) {
      if (own) Object.defineProperty(thenable, name, own);
      else Reflect.deleteProperty(thenable, name);
    }
  };
  const replace = (name: string, value: Method): boolean => {
    if (typeof members[name] !== 'function') return true;
    const own = Object.getOwnPropertyDescriptor(thenable, name);
    if (!Reflect.defineProperty(thenable, name, { value, configurable: true, writable: true, enumerable: false })) {
      return false;
    }
    originals.set(name, own);
    return true;
  };
  const begin = (): void => {
    restore();
    unused.unregister(thenable);
  };
  const run = (onKept?: OnSettled, onBroken?: OnSettled): unknown => {
    begin();
    return thenable.then(
      (result: unknown) => {
        onEnded({ result });
        return onKept ? onKept(result) : result;
      },
      (error: unknown) => {
        onEnded({ error });
        if (onBroken) return onBroken(error);
        throw error;
      },
    );
  };
  const running = 'execute' in thenable ? [...RUNNING, ...RUNNING_BESIDE_EXECUTE] : RUNNING;
  const arm = (): boolean => {
    unused.register(thenable, subject, thenable);
    return (
      replace('then', (onKept, onBroken) => run(onKept as OnSettled, onBroken as OnSettled)) &&
      replace('catch', (onBroken) => run(undefined, onBroken as OnSettled)) &&
      running.every((name) => replace(name, (...args) => call(name, args)))
    );
  };
  const call = (name: string, args: unknown[]): unknown => {
    begin();
    let result: unknown;
    try {
      result = (members[name] as Method).apply(thenable, args);
    } catch (error) {
      onEnded({ error });
      throw error;
    }
    if (result !== thenable) return follow(result);
    arm(); // It only continued the query.
    return result;
  };
  if (arm()) return true;
  begin();
  return false;
}
