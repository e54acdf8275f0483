export const HOUR = 3_600_000;

/**
 * Adds up points by span, latest span first. Spans without points are omitted.
 *
 * @param length length of a span, in ms
 */
export function toSpans<T extends { at: number }>(points: readonly T[], length: number, add: (sum: T, point: T) => T) {
  const spans = new Map<number, T>();
  for (const point of points) {
    const at = Math.floor(point.at / length) * length;
    const sum = spans.get(at);
    spans.set(at, { ...(sum ? add(sum, point) : point), at });
  }
  return [...spans.values()].sort((one, other) => other.at - one.at);
}
