import { type IdKey, IdHash } from './id-hash.js';

/** Number of maps that share the ids: small ones grow without a long pause, and each can hold at most 2^24 entries. */
const MAPS = 64;

/** With this exponent bit cleared, 64 random bits are never NaN; all NaNs are one key in a `Map`. */
const EXPONENT_BIT = 1 << 30;

/** Messages of one destination and source that were accepted together. */
export interface AcceptedMessages {
  /** Greater than the batch of all messages accepted before. */
  batch: number;
  destination: string;
  source: string;
  messageIds: string[];
}

/** Where an id is, or would be inserted. */
interface Place {
  map: Map<number, number>;
  key: number;
}

/**
 * Finds messages that were accepted before, at the same cost for every id: an id is represented by 64 bits of a keyed
 * hash, never compared itself. Among a million ids, a new one is taken for known once in 2^44 (10^13) times.
 */
export class AcceptedIds {
  private readonly hash = new IdHash();
  private readonly bits = new DataView(new ArrayBuffer(8));
  /** The batch of each id, oldest batch first. */
  private readonly maps = Array.from({ length: MAPS }, () => new Map<number, number>());
  /** Ids that the current transaction has added, with the batch that each had before. */
  private added: (Place & { before: number | undefined })[] = [];
  /** The first batch that is not forgotten. */
  private oldest = 0;

  /**
   * Adds the messages that are new; returns the positions of the others, in ascending order.
   * @param since the first batch whose messages are remembered
   */
  add({ batch, destination, source, messageIds }: AcceptedMessages, since: number): number[] {
    const start = this.startOf(destination, source);
    const first = Math.max(since, this.oldest);
    const repeated: number[] = [];
    for (let position = 0; position < messageIds.length; position++) {
      const { map, key } = this.placeOf(messageIds[position]!, start);
      const before = map.get(key);
      if (before !== undefined && before >= first) {
        repeated.push(position);
        continue;
      }
      if (before !== undefined) map.delete(key); // moves it to the newest
      map.set(key, batch);
      this.added.push({ map, key, before });
    }
    return repeated;
  }

  /** Whether a message is remembered for a destination. */
  has(
    { destination, source, messageId }: { destination: string; source: string; messageId: string },
    since: number,
  ): boolean {
    const { map, key } = this.placeOf(messageId, this.startOf(destination, source));
    return (map.get(key) ?? -1) >= Math.max(since, this.oldest);
  }

  /** Adds messages that are known to be new. */
  restore({ batch, destination, source, messageIds }: AcceptedMessages): void {
    const start = this.startOf(destination, source);
    for (const messageId of messageIds) {
      const { map, key } = this.placeOf(messageId, start);
      map.set(key, batch);
    }
  }

  /** Keeps the added ids, and forgets all batches up to `last`. */
  commit(last = -1): void {
    this.added = [];
    if (last < this.oldest) return;
    this.oldest = last + 1;
    for (const map of this.maps) {
      for (const [key, batch] of map) {
        if (batch > last) break;
        map.delete(key);
      }
    }
  }

  /** Removes the added ids again. */
  rollback(): void {
    for (const { map, key, before } of this.added.reverse()) {
      if (before === undefined) map.delete(key);
      else map.set(key, before);
    }
    this.added = [];
  }

  private startOf(destination: string, source: string): IdKey {
    this.hash.update(JSON.stringify([destination, source]));
    const { first, second } = this.hash;
    return { first, second };
  }

  /** Uses 63 bits of the hash as the key, in a double. The remaining bit and five others select the map. */
  private placeOf(messageId: string, start: IdKey): Place {
    this.hash.update(messageId, start);
    const { first, second } = this.hash;
    this.bits.setInt32(0, second & ~EXPONENT_BIT);
    this.bits.setInt32(4, first);
    return { map: this.maps[second >>> 26]!, key: this.bits.getFloat64(0) };
  }
}
