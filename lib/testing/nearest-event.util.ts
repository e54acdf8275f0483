import type { Message } from '../client/index.js';

/** Whether the test framework considers two values equal, with its asymmetric matchers. */
export type Equals = (actual: unknown, expected: unknown) => boolean;

/** Returns the names of the expected fields that a recorded object lacks, or has with another value. */
export function differences(actual: object | undefined, expected: object, equals: Equals): string[] {
  const fields = (actual ?? {}) as Record<string, unknown>;
  return Object.entries(expected)
    .filter(([name, value]) => !equals(fields[name], value))
    .map(([name]) => name);
}

/**
 * Returns the event nearest to the expected one: among events with its name, the one with the fewest differences;
 * otherwise the one with the most similar name. Among equals, the later one.
 *
 * @param nameOf Returns what identifies an event: its name or its user.
 */
export function nearestEvent(
  events: readonly Message[],
  wanted: string,
  nameOf: (event: Message) => string,
  countDifferences: (event: Message) => number,
): Message | undefined {
  let nearest: { event: Message; distance: number } | undefined;
  for (const event of events) {
    const name = nameOf(event);
    // A different name outweighs all differences of properties.
    const distance = name === wanted ? countDifferences(event) : 1_000_000 + editDistance(name, wanted);
    if (!nearest || distance <= nearest.distance) nearest = { event, distance };
  }
  return nearest?.event;
}

/** Returns the number of characters to insert, delete or replace (Levenshtein), ignoring case. */
function editDistance(a: string, b: string): number {
  const [from, to] = [a.toLowerCase(), b.toLowerCase()];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
