import { Inject, Optional } from '@nestjs/common';

import type { AnalyticsService } from '../analytics.service.js';
import { getAnalyticsToken } from '../analytics.tokens.js';

type Holder = Record<symbol, AnalyticsService | undefined>;

/** Instances of objects that accept no property, such as frozen ones. */
const ofClosedObjects = new WeakMap<object, Map<symbol, AnalyticsService>>();

const keyOf = (instance: string): symbol => Symbol.for(`nestjs-analytics-relay:decorators:${instance}`);

/**
 * Makes Nest inject the instance into a hidden property of each object of the class, where the methods find it. The
 * property is not enumerable, so it does not affect logging or comparing the object.
 */
export function injectHidden(prototype: object, instance: string): void {
  const key = keyOf(instance);
  if (key in prototype) return;
  Object.defineProperty(prototype, key, {
    configurable: true,
    get(this: object) {
      return ofClosedObjects.get(this)?.get(key);
    },
    set(this: object, analytics: AnalyticsService) {
      if (Reflect.defineProperty(this, key, { value: analytics, configurable: true, writable: true })) return;
      ofClosedObjects.set(this, new Map(ofClosedObjects.get(this)).set(key, analytics));
    },
  });
  Inject(getAnalyticsToken(instance))(prototype, key);
  Optional()(prototype, key);
}

/** Returns the instance that records the calls of this object's methods; undefined if it has none. */
export function hiddenInstanceOf(target: object | undefined, instance: string): AnalyticsService | undefined {
  return (target as Holder | undefined)?.[keyOf(instance)];
}

/** Gives an object its instance, as Nest does for objects that it constructs. Their class has {@link injectHidden}. */
export function giveHidden(target: object, instance: string, analytics: AnalyticsService): void {
  (target as Holder)[keyOf(instance)] = analytics;
}
