/** Number of records of a destination. */
interface Counted {
  destination: string;
  count: number;
}

/** A destination with more records than it may keep. */
interface Limited extends Counted {
  kept: number;
}

/**
 * Divides a bound among destinations. Those with few records keep all, and the others share the rest equally, except for
 * the remainder of the division. Returns the destinations that exceed their share.
 */
export function limitFairly(counts: readonly Counted[], bound: number): Limited[] {
  const ascending = [...counts].sort((a, b) => a.count - b.count || (a.destination < b.destination ? -1 : 1));
  let room = bound;
  return ascending.flatMap(({ destination, count }, index) => {
    const kept = Math.min(count, Math.floor(room / (ascending.length - index)));
    room -= kept;
    return kept < count ? { destination, count, kept } : [];
  });
}
