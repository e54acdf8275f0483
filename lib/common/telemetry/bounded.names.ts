/** Replaces all names beyond the limit. */
export const OTHER = '_other';

/** Limits the names that are values of an attribute, because each value is a series kept in memory. */
export class BoundedNames {
  private readonly names = new Set<string>();

  /** @param size number of names that keep their own value, in order of arrival */
  constructor(private readonly size: number) {}

  /** Returns a copy for one reading, which may assign the remaining places to other names. */
  copy(): BoundedNames {
    const copy = new BoundedNames(this.size);
    for (const name of this.names) copy.names.add(name);
    return copy;
  }

  valueOf(name: string): string {
    if (this.names.has(name)) return name;
    if (this.names.size >= this.size) return OTHER;
    this.names.add(name);
    return name;
  }
}
