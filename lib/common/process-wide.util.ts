/**
 * Returns the process's only value of a kind, even if the package is loaded twice (ES modules and CommonJS). The value
 * is kept in a function, because Jest changes the properties of globals.
 */
export function processWide<T>(kind: string, create: () => T): T {
  const shared = globalThis as Record<symbol, (() => T) | undefined>;
  const key = Symbol.for(`nestjs-analytics-relay:${kind}`);
  if (!shared[key]) {
    const value = create();
    shared[key] = () => value;
  }
  return shared[key]();
}
