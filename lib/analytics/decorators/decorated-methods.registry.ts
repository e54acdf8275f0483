/** A method with a decorator that records its calls. */
export interface DecoratedMethod {
  /** Its class and name, for log lines. */
  subject: string;
  /** Name of the instance that records it. */
  instance: string;
}

const METHODS = Symbol.for('nestjs-analytics-relay:decorated-methods');

/** Declares a method of the class with this prototype. */
export function addDecoratedMethod(prototype: object, method: DecoratedMethod): void {
  Reflect.defineMetadata(METHODS, [...decoratedMethodsOf(prototype), method], prototype);
}

/** The decorated methods of an object and those that its class inherits; none for what is no object. */
export function decoratedMethodsOf(object: unknown): DecoratedMethod[] {
  if (typeof object !== 'object' || object === null) return [];
  return (Reflect.getMetadata(METHODS, object) as DecoratedMethod[] | undefined) ?? [];
}
