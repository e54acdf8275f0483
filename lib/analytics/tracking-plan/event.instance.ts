import { isPlainObject } from '../../client/message/message.rules.js';
import { nestedClassOf, rulesOf } from './class.metadata.js';
import type { EventClass } from './tracking-plan.interface.js';

type Fields = Record<string, unknown>;

/** Decorators have run by the time of the first event, and do not change. */
const nestedClasses = new WeakMap<EventClass, Map<string, EventClass>>();

/**
 * Properties as an instance of the class that declares them, so that its rules apply. The class's constructor does not
 * run, and the application's own object is not changed. Nested objects become instances where the type of the property
 * is a class; elements of arrays stay what they are, as nothing tells their class.
 */
export function toInstance(type: EventClass, properties: object): object {
  const fields = properties as Fields;
  const plain = [...nestedClassesOf(type)].filter(
    ([property, nested]) => isPlainObject(fields[property]) && !(fields[property] instanceof nested),
  );
  if (properties instanceof type && plain.length === 0) return properties;
  const copied = Object.getOwnPropertyDescriptors(properties);
  for (const [property, nested] of plain) {
    copied[property as never] = { value: toInstance(nested, fields[property] as object), enumerable: true };
  }
  return Object.create(type.prototype as object, copied) as object;
}

function nestedClassesOf(type: EventClass): Map<string, EventClass> {
  let nested = nestedClasses.get(type);
  if (!nested) {
    nested = new Map();
    for (const rule of rulesOf(type)) {
      const nestedClass = nestedClassOf(type, rule);
      if (nestedClass) nested.set(rule.propertyName, nestedClass);
    }
    nestedClasses.set(type, nested);
  }
  return nested;
}
