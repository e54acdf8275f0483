/** Counts of one process for a minute or a longer interval, as text in the series' own format. */
export interface SeriesRecord {
  /** Name of the series: of a destination, of a source, or of the total. */
  series: string;
  /** Start of the interval, in ms since the epoch. */
  minute: number;
  /** Identifies the process that counted. */
  writer: string;
  text: string;
}

/** Stores per-minute figures; usable while the queue is open. */
export interface SeriesStore {
  /**
   * Writes records, replacing those with the same series, minute and writer. Removes records before `oldest`, in ms
   * since the epoch; those of other series may be removed later.
   */
  write(records: SeriesRecord[], oldest: number): Promise<void>;
  /** Returns a series' records from all writers for the minutes `from` to `to`, in ms since the epoch, inclusive. */
  read(series: string, from: number, to: number): Promise<SeriesRecord[]>;
}
