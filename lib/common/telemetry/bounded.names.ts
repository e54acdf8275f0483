/** What stands for all names beyond the bound. */
export const OTHER = '_other';

/** Names as values of an attribute: each value is a series that is kept, so that there must not be any number of them. */
export class BoundedNames {
  private readonly names = new Set<string>();

  /** @param size names that keep their own value, the first ones that come */
  constructor(private readonly size: number) {}

  /** For one reading, which may give the places that are left to other names. */
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
