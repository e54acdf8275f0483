const HOUR = 3_600_000;

/** Adds up points by the hour, newest hour first. Hours without points are omitted. */
export function byHour<T extends { at: number }>(points: readonly T[], add: (sum: T, point: T) => T): T[] {
  const hours = new Map<number, T>();
  for (const point of points) {
    const at = Math.floor(point.at / HOUR) * HOUR;
    const sum = hours.get(at);
    hours.set(at, { ...(sum ? add(sum, point) : point), at });
  }
  return [...hours.values()].sort((one, other) => other.at - one.at);
}
