import { Inject, Optional } from '@nestjs/common';

import type { AnalyticsService } from '../analytics.service.js';
import { getAnalyticsToken } from '../analytics.tokens.js';

type Holder = Record<symbol, AnalyticsService | undefined>;

/** Of objects that take no property, such as frozen ones. */
const ofClosedObjects = new WeakMap<object, Map<symbol, AnalyticsService>>();

const keyOf = (instance: string): symbol => Symbol.for(`nestjs-analytics-relay:decorators:${instance}`);

/**
 * Makes Nest inject the instance into a property of each object of the class, where its methods find it.
 * The property is not enumerable: it changes no log line and no comparison of the object.
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

/** The instance that records what this object's methods do; undefined where it was given none. */
export function hiddenInstanceOf(target: object | undefined, instance: string): AnalyticsService | undefined {
  return (target as Holder | undefined)?.[keyOf(instance)];
}

/** Gives an object of a class with {@link injectHidden} its instance, as Nest does with those that it constructs. */
export function giveHidden(target: object, instance: string, analytics: AnalyticsService): void {
  (target as Holder)[keyOf(instance)] = analytics;
}
