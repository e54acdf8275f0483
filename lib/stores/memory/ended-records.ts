import type { KeptSince } from '../../webhook-destination/queue/delivery.interface.js';
import type { CountedRecords } from '../../webhook-destination/queue/retention-bound.util.js';
import type { Entry } from './due-list.js';

/** What an entry takes besides its body, in bytes. */
const ENTRY_BYTES = 1_000;

/** Records of ended deliveries in one state. */
export class EndedRecords {
  /** By destination; those that ended first come first. */
  private readonly destinations = new Map<string, { entries: Set<Entry>; bytes: number }>();

  add(entry: Entry): void {
    const { destination } = entry.delivery;
    let records = this.destinations.get(destination);
    if (!records) this.destinations.set(destination, (records = { entries: new Set(), bytes: 0 }));
    records.entries.add(entry);
    records.bytes += sizeOf(entry);
  }

  delete(entry: Entry): void {
    const records = this.destinations.get(entry.delivery.destination);
    if (!records?.entries.delete(entry)) return;
    records.bytes -= sizeOf(entry);
    if (records.entries.size === 0) this.destinations.delete(entry.delivery.destination);
  }

  counts(): CountedRecords[] {
    return Array.from(this.destinations, ([destination, { entries, bytes }]) => {
      return { destination, count: entries.size, bytes };
    });
  }

  keptSince(): KeptSince[] {
    return Array.from(this.destinations, ([destination, { entries }]) => {
      const [first] = entries;
      return { destination, since: first!.changedAt };
    });
  }

  /** Returns the records of a destination that ended first, at most `count`, and only those that ended by a time. */
  first(destination: string, count: number, until = Infinity): Entry[] {
    const found: Entry[] = [];
    for (const entry of this.destinations.get(destination)?.entries ?? []) {
      if (found.length >= count || entry.changedAt > until) break;
      found.push(entry);
    }
    return found;
  }
}

function sizeOf({ delivery: { body } }: Entry): number {
  return body.length + ENTRY_BYTES;
}
