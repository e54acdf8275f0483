import { Inject, Logger, Optional } from '@nestjs/common';

import { describe } from '../../common/error.util.js';
import type { AnalyticsService } from '../analytics.service.js';
import { DEFAULT_INSTANCE, getAnalyticsToken } from '../analytics.tokens.js';
import { wrapMethod } from './method.wrapper.js';
import type { CallContext, RecordOptions } from './record-options.interface.js';

const logger = new Logger('AnalyticsDecorator');

/** A decorator that records an event at the end of each call of a method; without an `AnalyticsModule` it does nothing. */
export function recordCall(
  options: RecordOptions,
  record: (analytics: AnalyticsService, fields: Record<string, unknown>) => void,
): MethodDecorator {
  const { instance = DEFAULT_INSTANCE, on = 'success', when, ...fields } = options;
  const token = getAnalyticsToken(instance);

  return (prototype, key, descriptor: PropertyDescriptor) => {
    // Nest injects the instance into a property of the class, so that the method finds it however it is called.
    Inject(token)(prototype, token);
    Optional()(prototype, token);

    const onEnd = (call: CallContext) => {
      const analytics = (call.target as Record<symbol, AnalyticsService | undefined> | undefined)?.[token];
      if (!analytics || (on !== 'both' && on !== ('error' in call ? 'error' : 'success'))) return;
      try {
        if (when?.(call) === false) return;
        record(analytics, mapFields(fields, call));
      } catch (error) {
        logger.warn(`${prototype.constructor.name}.${String(key)} was not recorded: ${describe(error)}`);
      }
    };
    descriptor.value = wrapMethod(descriptor.value as Parameters<typeof wrapMethod>[0], onEnd);
  };
}

function mapFields(fields: object, call: CallContext): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]: [string, unknown]) => [
      name,
      typeof field === 'function' ? (field as (call: CallContext) => unknown)(call) : field,
    ]),
  );
}
