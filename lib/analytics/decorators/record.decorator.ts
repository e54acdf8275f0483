import { Inject, Optional } from '@nestjs/common';

import { describe } from '../../common/error.util.js';
import { FaultLog } from '../../common/fault.log.js';
import type { AnalyticsService } from '../analytics.service.js';
import { DEFAULT_INSTANCE, getAnalyticsToken } from '../analytics.tokens.js';
import { wrapMethod } from './method.wrapper.js';
import type { AnyMethod, CallContext, RecordOptions } from './record-options.interface.js';

const faultLogs = new WeakMap<AnalyticsService, FaultLog>();

/**
 * A decorator that records an event at the end of each call of a method, with each field as a value or told from the
 * call; without an `AnalyticsModule` it does nothing.
 */
export function recordCall<Options extends RecordOptions>(
  options: Options,
  record: (analytics: AnalyticsService, message: object) => void,
): MethodDecorator {
  const { instance = DEFAULT_INSTANCE, on = 'success', when, ...fields } = options;
  const token = getAnalyticsToken(instance);
  const toFields = fieldsMapper(fields);

  return (prototype, key, descriptor: PropertyDescriptor) => {
    injectHidden(prototype, token);
    const recordEnd = (analytics: AnalyticsService, call: CallContext): boolean => {
      if (on !== 'both' && on !== ('error' in call ? 'error' : 'success')) return false;
      try {
        if (when?.(call) !== false) record(analytics, toFields(call));
      } catch (error) {
        const subject = `${prototype.constructor.name}.${String(key)}`;
        faultLogOf(analytics).warn(`${subject} was not recorded: ${describe(error)}`);
      }
      return true;
    };
    descriptor.value = wrapMethod(descriptor.value as AnyMethod, (target) => {
      const analytics = (target as Record<symbol, AnalyticsService | undefined> | undefined)?.[token];
      return analytics && ((call) => recordEnd(analytics, call));
    });
  };
}

/**
 * Nest injects the instance into a property of each object of the class, so that the method finds it however it is
 * called. It shows nowhere: who logs or compares such an object sees what it would see without.
 */
function injectHidden(prototype: object, token: symbol): void {
  if (token in prototype) return;
  Object.defineProperty(prototype, token, {
    configurable: true,
    set(this: object, analytics: AnalyticsService) {
      Reflect.defineProperty(this, token, { value: analytics, configurable: true, writable: true });
    },
  });
  Inject(token)(prototype, token);
  Optional()(prototype, token);
}

function faultLogOf(analytics: AnalyticsService): FaultLog {
  const log = faultLogs.get(analytics) ?? new FaultLog('AnalyticsDecorator');
  faultLogs.set(analytics, log);
  return log;
}

/** Maps the fields of a message, those that are functions from the call. */
function fieldsMapper(fields: object): (call: CallContext) => object {
  const entries = Object.entries(fields) as [string, unknown][];
  return (call) => {
    const mapped: Record<string, unknown> = {};
    for (const [name, field] of entries) {
      mapped[name] = typeof field === 'function' ? (field as (call: CallContext) => unknown)(call) : field;
    }
    return mapped;
  };
}
