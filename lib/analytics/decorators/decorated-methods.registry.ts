/** A method with a decorator that records its calls. */
export interface DecoratedMethod {
  /** Class and method name, for log lines. */
  subject: string;
  /** Name of the instance that records the calls. */
  instance: string;
}

const METHODS = Symbol.for('nestjs-analytics-relay:decorated-methods');

/** Registers a method of the class with this prototype. */
export function addDecoratedMethod(prototype: object, method: DecoratedMethod): void {
  Reflect.defineMetadata(METHODS, [...decoratedMethodsOf(prototype), method], prototype);
}

/** Returns the decorated methods of an object, including inherited ones; none if the value is not an object. */
export function decoratedMethodsOf(object: unknown): DecoratedMethod[] {
  if (typeof object !== 'object' || object === null) return [];
  return (Reflect.getMetadata(METHODS, object) as DecoratedMethod[] | undefined) ?? [];
}
