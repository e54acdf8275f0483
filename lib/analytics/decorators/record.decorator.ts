import { errorMessage } from '../../client/error.util.js';
import { foundOnce } from '../../common/found-once.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { OptionsError } from '../../common/options.error.js';
import type { AnalyticsService } from '../analytics.service.js';
import { opensScope } from '../context/analytics-scope.decorator.js';
import { recordAs } from '../context/context-scope.js';
import { DEFAULT_INSTANCE } from '../instance.options.js';
import { addDecoratedMethod } from './decorated-methods.registry.js';
import { fieldsMapper, refusePromises } from './field.mapper.js';
import { hiddenInstanceOf, injectHidden } from './hidden-instance.util.js';
import { refuseStandardDecorator, wrapMethod } from './method.wrapper.js';
import type { RecordedMethod, CallContext, RecordOptions } from './record-options.interface.js';

const ENDS: unknown[] = ['success', 'error', 'both'];

const faultLogOf = foundOnce((_: AnalyticsService) => new LimitedLogger('AnalyticsDecorator'), new WeakMap());

/**
 * Returns a decorator that records an event at the end of each call of a method. Each field is a value or a function of
 * the call. Without an `AnalyticsModule`, the decorator does nothing.
 *
 * @throws {OptionsError} if the target is not an instance method, `on` is not a valid value, or a field has a value that
 * cannot be recorded.
 */
export function recordCall<Options extends RecordOptions>(
  options: Options,
  record: (analytics: AnalyticsService, message: object) => void,
): MethodDecorator {
  const { instance = DEFAULT_INSTANCE, on = 'success', when, ...fields } = options;
  return (prototype, key, descriptor: PropertyDescriptor | undefined) => {
    refuseStandardDecorator(key);
    const subject = subjectOf(prototype, key);
    if (typeof descriptor?.value !== 'function' || typeof prototype === 'function') {
      const rule =
        'an analytics decorator needs an instance method, not a property, arrow function, getter, setter or static method';
      throw new OptionsError(subject, [rule]);
    }
    if (opensScope(descriptor.value as object)) {
      throw new OptionsError(subject, ['@AnalyticsScope() must be above the other analytics decorators']);
    }
    if (!ENDS.includes(on)) throw new OptionsError(subject, ["on must be 'success', 'error' or 'both'"]);
    const toFields = checkedMapper(subject, fields);
    injectHidden(prototype, instance);
    addDecoratedMethod(prototype, { subject, instance });
    const recordEnd = (analytics: AnalyticsService, call: CallContext): boolean => {
      if (on !== 'both' && on !== ('error' in call ? 'error' : 'success')) return false;
      try {
        const isRecorded = when?.(call);
        refusePromises('when', isRecorded);
        if (isRecorded === false) return true;
        const message = toFields(call);
        const run = () => record(analytics, message);
        // A transaction of the method is rolled back.
        recordAs(subject, 'error' in call ? () => analytics.recordOutside(run) : run);
      } catch (error) {
        faultLogOf(analytics).once(`${subject} was not recorded: ${errorMessage(error)}`);
      }
      return true;
    };
    const onEndFor = (target: object | undefined) => {
      const analytics = hiddenInstanceOf(target, instance);
      return analytics && ((call: CallContext) => recordEnd(analytics, call));
    };
    descriptor.value = wrapMethod(descriptor.value as RecordedMethod, onEndFor, subject);
  };
}

function checkedMapper(subject: string, fields: object): (call: CallContext) => object {
  try {
    return fieldsMapper(fields);
  } catch (error) {
    throw new OptionsError(subject, [errorMessage(error)]);
  }
}

/** Returns the class and name of a method, for log lines. */
function subjectOf(target: object, key: string | symbol): string {
  const { name } = typeof target === 'function' ? target : target.constructor;
  return `${name}.${String(key)}`;
}
