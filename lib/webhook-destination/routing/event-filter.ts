/** Maximum number of patterns of a destination. */
export const MAX_PATTERNS = 100;

/** Maximum length of a pattern, in characters. */
export const MAX_PATTERN_LENGTH = 200;

const EXCLUDES = '!';

/** The literal parts of a pattern, in order. */
interface Pattern {
  start: string;
  between: string[];
  /** The text after the last `*`; undefined if the pattern has no `*` and so is the whole name. */
  end: string | undefined;
}

/** Returns whether a value is an array of patterns within the limits. */
export function areEventPatterns(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_PATTERNS &&
    value.every(
      (pattern) =>
        typeof pattern === 'string' && pattern !== '' && pattern !== EXCLUDES && pattern.length <= MAX_PATTERN_LENGTH,
    )
  );
}

/**
 * Selects event names by patterns. `*` matches any text, and a leading `!` excludes. Exclusions take precedence;
 * exclusions alone select every other name.
 */
export class EventFilter {
  private readonly included: Pattern[];
  private readonly excluded: Pattern[];

  constructor(patterns: string[]) {
    const excluded = patterns.filter((pattern) => pattern.startsWith(EXCLUDES));
    this.excluded = excluded.map((pattern) => compile(pattern.slice(EXCLUDES.length)));
    this.included = patterns.filter((pattern) => !pattern.startsWith(EXCLUDES)).map(compile);
  }

  /** Returns whether an event name is selected. */
  takes(event: string): boolean {
    if (this.excluded.some((pattern) => matches(pattern, event))) return false;
    return this.included.length === 0 || this.included.some((pattern) => matches(pattern, event));
  }
}

function compile(pattern: string): Pattern {
  const [start = '', ...between] = pattern.split('*');
  return { start, end: between.pop(), between };
}

/** Avoids regular expressions, which would take exponential time for some patterns. */
function matches({ start, between, end }: Pattern, event: string): boolean {
  if (end === undefined) return event === start;
  if (!event.startsWith(start) || !event.endsWith(end)) return false;
  let position = start.length;
  for (const text of between) {
    const found = event.indexOf(text, position);
    if (found < 0) return false;
    position = found + text.length;
  }
  return position + end.length <= event.length;
}
