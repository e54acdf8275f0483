/** Replaces a method of one object for its first call only. Returns false if the object cannot be changed. */
export function replaceUntilUsed<Method extends (...args: never[]) => unknown>(
  object: object,
  key: PropertyKey,
  replace: (original: Method) => Method,
): boolean {
  const own = Object.getOwnPropertyDescriptor(object, key);
  const original = (object as Record<PropertyKey, unknown>)[key] as Method;
  const value = (...args: never[]): unknown => {
    if (own) Object.defineProperty(object, key, own);
    else Reflect.deleteProperty(object, key);
    return replace(original)(...args);
  };
  return Reflect.defineProperty(object, key, { value, configurable: true, writable: true, enumerable: false });
}
