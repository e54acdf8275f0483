import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { OptionsError } from '../../common/options.error.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { disguise, refuseStandardDecorator } from '../decorators/method.wrapper.js';
import { type AmbientFields, changedBy } from './analytics-context.js';
import type { ContextScope } from './context-scope.js';
import { openScope } from './opened-scope.util.js';

type Method = (this: object, ...args: unknown[]) => unknown;

const OPENS_SCOPE = Symbol.for('nestjs-analytics-relay:opens-scope');

const log = new LimitedLogger('AnalyticsScope');

/**
 * Opens a scope for each call of a method that no request calls, such as a job or a cron task. Everything that the call
 * records gets the fields that `fieldsOf` returns for the call's arguments. The surrounding scope, if any, does not
 * apply: a library may call the method in the scope of whatever called the library.
 *
 * @param fieldsOf Called before the method. If it throws, this is logged, and the scope has no fields.
 * @example
 * ```ts
 * @AnalyticsScope((job: Job<{ userId: string }>) => ({ userId: job.data.userId }))
 * async process(job: Job<{ userId: string }>) {}
 * ```
 * @throws {OptionsError} if the target is not an instance method.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments of any method
export function AnalyticsScope(fieldsOf?: (...args: any[]) => AmbientFields | null | undefined): MethodDecorator {
  return (prototype, key, descriptor: PropertyDescriptor | undefined) => {
    refuseStandardDecorator(key);
    const subject = `${prototype.constructor.name}.${String(key)}`;
    if (typeof descriptor?.value !== 'function' || typeof prototype === 'function') {
      throw new OptionsError(subject, ['@AnalyticsScope() needs an instance method']);
    }
    const method = descriptor.value as Method;
    const scopeFor = (args: unknown[]): ContextScope => {
      try {
        const fields = fieldsOf?.(...args) ?? {};
        if (isDiscardedPromise(fields)) throw new Error('it must not return a promise');
        return { method: subject, ...changedBy(fields, {}) };
      } catch (error) {
        log.once(`The function of @AnalyticsScope() on ${subject} failed: ${errorMessage(error)}`);
        return { method: subject };
      }
    };
    const wrapped: Method = function (...args) {
      return openScope(scopeFor(args), () => method.apply(this, args));
    };
    descriptor.value = Object.assign(disguise(wrapped, method), { [OPENS_SCOPE]: true });
  };
}

/** Whether calls of a function open a scope, which decorators applied later would not see. */
export function opensScope(method: object): boolean {
  return OPENS_SCOPE in method;
}
