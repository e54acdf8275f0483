import { OTHER_ERROR } from './attributes.util.js';

/** Replaces all names beyond the limit. */
export const OTHER = '_other';

/** Maximum number of values of `error.type` and of statuses, for each destination or server: receivers choose them. */
const MAX_RESULTS = 50;

/** Limits the names that are values of an attribute, because each value is a series kept in memory. */
export class BoundedNames {
  private readonly names = new Set<string>();

  /**
   * @param size number of names that keep their own value, in order of arrival
   * @param other replaces the others
   */
  constructor(
    private readonly size: number,
    private readonly other = OTHER,
  ) {}

  /** Creates a bound for `error.type` and statuses, of which an operation can have any number. */
  static ofResults(): BoundedNames {
    return new BoundedNames(MAX_RESULTS, OTHER_ERROR);
  }

  valueOf(name: string): string {
    if (this.names.has(name)) return name;
    if (this.names.size >= this.size) return this.other;
    this.names.add(name);
    return name;
  }
}
