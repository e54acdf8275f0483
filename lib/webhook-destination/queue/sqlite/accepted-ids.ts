import { type IdKey, IdHash } from './id-hash.js';

/** Maps that the ids are spread over: each grows without a long pause, and one alone holds 2^24 entries at most. */
const MAPS = 64;

/** Without this bit of the exponent, 64 random bits are never a NaN, of which a `Map` knows one only. */
const EXPONENT_BIT = 1 << 30;

/** Messages of one destination and source that were accepted together. */
export interface AcceptedMessages {
  /** Greater than that of any accepted before. */
  batch: number;
  destination: string;
  source: string;
  messageIds: string[];
}

/** Where an id is, or would be. */
interface Place {
  map: Map<number, number>;
  key: number;
}

/**
 * Finds messages that were accepted before, at a cost that depends on no id: one is known by 64 bits of a keyed hash, and
 * never compared. Beside a million others, a new message is taken for one of them once in 2^44 (10^13) times.
 */
export class AcceptedIds {
  private readonly hash = new IdHash();
  private readonly bits = new DataView(new ArrayBuffer(8));
  /** The batch of each id, those of the oldest batches first. */
  private readonly maps = Array.from({ length: MAPS }, () => new Map<number, number>());
  /** What the transaction under way has added, with the batch that was there before. */
  private added: (Place & { before: number | undefined })[] = [];
  /** The first batch that is not forgotten. */
  private oldest = 0;

  /**
   * Adds the messages that are new; answers with the positions of the others, in ascending order.
   * @param since the first batch that counts
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
      if (before !== undefined) map.delete(key); // its place is among the newest now
      map.set(key, batch);
      this.added.push({ map, key, before });
    }
    return repeated;
  }

  /** Adds messages that are known to be new. */
  restore({ batch, destination, source, messageIds }: AcceptedMessages): void {
    const start = this.startOf(destination, source);
    for (const messageId of messageIds) {
      const { map, key } = this.placeOf(messageId, start);
      map.set(key, batch);
    }
  }

  /** Keeps what was added, and forgets all batches up to one. */
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

  /** Undoes what was added. */
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

  /** 63 bits of the hash are the key, as a double; the one that is left out chooses the map, with some of the others. */
  private placeOf(messageId: string, start: IdKey): Place {
    this.hash.update(messageId, start);
    const { first, second } = this.hash;
    this.bits.setInt32(0, second & ~EXPONENT_BIT);
    this.bits.setInt32(4, first);
    return { map: this.maps[second >>> 26]!, key: this.bits.getFloat64(0) };
  }
}
