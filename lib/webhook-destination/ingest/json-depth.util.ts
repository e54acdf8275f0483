/** Maximum nesting of a message, in levels. */
export const MAX_DEPTH = 100;

/** Returns whether a JSON value is nested deeper than this number of levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}
