import type { RecordBound } from './retention.options.js';

/** Ended records of a destination. */
export interface CountedRecords {
  destination: string;
  count: number;
  /** Their size in the store. */
  bytes: number;
}

/** A destination with more records than it may keep. */
interface Limited extends CountedRecords {
  kept: number;
}

/**
 * Divides the bounds among destinations. Those with few records keep all, and the others share the rest equally, except
 * for the remainder of the division. Returns the destinations that exceed their share. How many records fit into bytes
 * follows from their average size, so the next sweep removes what is still too much.
 */
export function limitFairly(records: readonly CountedRecords[], { count, bytes }: RecordBound): Limited[] {
  const shares = divide(records, 'count', count);
  const sizes = divide(records, 'bytes', bytes);
  return records.flatMap((record) => {
    const size = sizes.get(record)!;
    const fitting = size < record.bytes ? Math.floor((record.count * size) / record.bytes) : record.count;
    const kept = Math.min(shares.get(record)!, fitting);
    return kept < record.count ? { ...record, kept } : [];
  });
}

/** Returns what each destination keeps of a bound on one of its figures. */
function divide(
  records: readonly CountedRecords[],
  figure: 'count' | 'bytes',
  bound: number,
): Map<CountedRecords, number> {
  const ascending = [...records].sort((a, b) => a[figure] - b[figure] || (a.destination < b.destination ? -1 : 1));
  let room = bound;
  return new Map(
    ascending.map((record, index) => {
      const kept = Math.min(record[figure], Math.floor(room / (ascending.length - index)));
      room -= kept;
      return [record, kept];
    }),
  );
}
