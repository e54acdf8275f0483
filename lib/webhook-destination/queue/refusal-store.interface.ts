/** Length of the time at the start of an id, in characters. */
const TIME_LENGTH = 9;

/** A refused message, as a store keeps it. */
export interface RefusalRecord {
  /** Begins with the time of the refusal: ids sort by time, as text. */
  id: string;
  source: string;
  /** JSON of what is known of the message. */
  head: string;
  /** Its text, at most 32 KiB, without NUL characters. */
  text: string;
}

/**
 * Stores the messages that ingest has refused; usable while the queue is open. They are bounded in number for each
 * source, and in age.
 */
export interface RefusalStore {
  /**
   * Stores records, and removes all but the newest `count` of each of their sources. Resolves with whether they are
   * stored: a store at its size limit stores none.
   */
  keep(records: RefusalRecord[], count: number): Promise<boolean>;
  /** Returns the names of the sources with records. */
  sources(): Promise<string[]>;
  /**
   * Returns records of a source without their texts, newest first.
   *
   * @param after id after which they begin; undefined to begin with the newest
   */
  list(source: string, after: string | undefined, limit: number): Promise<Omit<RefusalRecord, 'text'>[]>;
  /** Returns those of these records that exist, newest first. */
  read(source: string, ids: string[]): Promise<RefusalRecord[]>;
  /** Replaces the heads of those of these records that still exist. */
  update(source: string, heads: Pick<RefusalRecord, 'id' | 'head'>[]): Promise<void>;
  /** Removes records; resolves with the number of those that existed. */
  remove(source: string, ids: string[]): Promise<number>;
  /**
   * Removes records from before a time, those of any source; resolves with their number. It is less than `most`
   * if no more are left.
   *
   * @param before in ms since the epoch
   */
  removeOld(before: number, most: number): Promise<number>;
}

/** Returns what the ids of a time begin with: all earlier ids sort before it. */
export function idsFrom(time: number): string {
  return Math.max(0, Math.floor(time)).toString(36).padStart(TIME_LENGTH, '0');
}

/** Returns the time of an id, in ms since the epoch. */
export function timeOfId(id: string): number {
  return parseInt(id.slice(0, TIME_LENGTH), 36);
}
