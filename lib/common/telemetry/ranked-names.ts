import { BoundedNames, OTHER } from './bounded.names.js';

/** Minimum time between two rankings, in ms. */
const RANK_INTERVAL = 5 * 60_000;

/** How many times the volume of a name another one needs to take its place, so that places seldom change. */
const LEAD = 2;

/**
 * Limits the names that are values of an attribute to those with the most volume; {@link OTHER} replaces the others.
 * Names get their places in order of arrival. Later, those with more volume take the places of others, whose series end.
 * No series ever goes back: what counts under one name is not moved to another.
 */
export class RankedNames {
  private readonly names = new Set<string>();
  /** What each name counted lately: each ranking halves it. */
  private readonly volumes = new Map<string, number>();
  private rankedAt = performance.now();

  /**
   * @param size number of names that keep their own value
   * @param onEnd called with the names that have lost their places
   */
  constructor(
    private readonly size: number,
    private readonly onEnd: (names: ReadonlySet<string>) => void,
  ) {}

  /** Returns the value of a name, and adds to its volume. */
  count(name: string, volume = 1): string {
    this.volumes.set(name, (this.volumes.get(name) ?? 0) + volume);
    return this.valueOf(name);
  }

  /** Returns the value of a name, which may get a place. */
  valueOf(name: string): string {
    if (this.names.has(name)) return name;
    if (this.names.size >= this.size) return OTHER;
    this.names.add(name);
    return name;
  }

  /** Returns names for one reading, which may assign the remaining places to other names. Ranks if it is time. */
  forReading(): BoundedNames {
    if (performance.now() - this.rankedAt >= RANK_INTERVAL) this.rank();
    const names = new BoundedNames(this.size);
    for (const name of this.names) names.valueOf(name);
    return names;
  }

  private rank(): void {
    this.rankedAt = performance.now();
    const { volumes } = this;
    const volumeOf = (name: string) => volumes.get(name) ?? 0;
    const least = [...this.names].sort((one, other) => volumeOf(one) - volumeOf(other));
    const most = [...volumes.keys()].filter((name) => !this.names.has(name));
    most.sort((one, other) => volumeOf(other) - volumeOf(one));
    const ended = new Set<string>();
    for (const [index, name] of least.entries()) {
      const next = most[index];
      if (next === undefined || volumeOf(next) <= LEAD * volumeOf(name)) break;
      ended.add(name);
      this.names.delete(name);
      this.names.add(next);
    }
    for (const [name, volume] of volumes) {
      if (volume < 1) volumes.delete(name);
      else volumes.set(name, volume / 2);
    }
    if (ended.size > 0) this.onEnd(ended);
  }
}
