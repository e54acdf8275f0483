/** What one process counted in a minute, or a longer interval, as a text that the series alone understands. */
export interface SeriesRecord {
  /** Names what was counted: a destination, a source, or all together. */
  series: string;
  /** Its beginning, in ms since the epoch. */
  minute: number;
  /** Names the process. */
  writer: string;
  text: string;
}

/** Where an engine keeps figures by the minute; usable while the queue is open. */
export interface SeriesStore {
  /**
   * Puts records in place of those of the same series, minute and writer. Removes those of these series before `oldest`;
   * those of others as well, but perhaps later.
   */
  write(records: SeriesRecord[], oldest: number): Promise<void>;
  /** The records of a series, by all writers, of the minutes from `from` to `to`, in ms since the epoch; both included. */
  read(series: string, from: number, to: number): Promise<SeriesRecord[]>;
}
