/** A method with a decorator that records its calls. */
export interface DecoratedMethod {
  /** Its class and name, for log lines. */
  subject: string;
  /** Name of the instance that records it. */
  instance: string;
}

const KEY = Symbol.for('nestjs-analytics-relay:decorated-methods');

// Both builds of the package may be in one process: the module of one finds what the decorators of the other declared.
const shared = globalThis as { [KEY]?: WeakMap<object, DecoratedMethod[]> };
const methodsByPrototype = (shared[KEY] ??= new WeakMap());

/** Declares a method of the class with this prototype. */
export function addDecoratedMethod(prototype: object, method: DecoratedMethod): void {
  methodsByPrototype.set(prototype, [...(methodsByPrototype.get(prototype) ?? []), method]);
}

/** The decorated methods of a prototype and those that it inherits; none for what is no object. */
export function decoratedMethodsOf(prototype: unknown): DecoratedMethod[] {
  if (typeof prototype !== 'object' || prototype === null) return [];
  return [...(methodsByPrototype.get(prototype) ?? []), ...decoratedMethodsOf(Object.getPrototypeOf(prototype))];
}
