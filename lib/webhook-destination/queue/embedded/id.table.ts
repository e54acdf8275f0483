import type { IdKey } from './id.hash.js';

/** Parts of the table, which grow one by one: no pause is long, and no peak of memory is twice what is held. */
const PARTS = 256;

/** Numbers of an entry: both of its key, and its batch. */
const WIDTH = 3;

/** Entries that a part has room for, at least. */
const SMALLEST = 16;

/** A part is made anew when so much of it is taken, with so much of it taken by what is not forgotten. */
const FULLEST = 0.75;
const FILLED = 0.5;

/**
 * In which batch an id is, by a key that stands for the id: 16 to 24 bytes an entry.
 *
 * An entry lies at the first free place from the one on that its key says. What is forgotten stays there until its part
 * is made anew. Of a batch's number 32 bits are kept: those remembered at one time may be 2^31 apart, beyond which a
 * forgotten one seems to be there again.
 */
export class IdTable {
  private readonly parts = Array.from({ length: PARTS }, () => createPart(0));
  /** Places taken in each part. */
  private readonly taken = new Int32Array(PARTS);
  /** The first batch that is not forgotten; unknown as long as there is no entry. */
  private oldest!: number;

  /** Makes room for a number of entries, in a table that is empty, so that it need not grow up to them. */
  reserve(entries: number): void {
    this.parts.forEach((_, index) => (this.parts[index] = createPart(entries / PARTS)));
  }

  /**
   * Adds an entry, unless there is one of the key; tells whether it did.
   * @param since the first batch whose entries count, where that is after those forgotten
   */
  addNew({ first, second }: IdKey, batch: number, since = 0): boolean {
    const key = first || 1; // 0 marks a free place
    const from = since > this.oldest ? since : this.oldest;
    const part = this.parts[key >>> 24]!;
    let place = placeOf(key, part);
    for (let found = part[place]!; found !== 0; found = part[place]!) {
      if (found === key && part[place + 1] === second && isFrom(from, part[place + 2]!)) return false;
      place = next(place, part);
    }
    this.take(key, second, batch, place);
    return true;
  }

  /** Adds an entry, also beside others of the key. */
  add({ first, second }: IdKey, batch: number): void {
    const key = first || 1;
    const part = this.parts[key >>> 24]!;
    let place = placeOf(key, part);
    while (part[place] !== 0) place = next(place, part);
    this.take(key, second, batch, place);
  }

  /** Removes an entry. */
  remove({ first, second }: IdKey, batch: number): void {
    const key = first || 1;
    const part = this.parts[key >>> 24]!;
    for (let place = placeOf(key, part); part[place] !== 0; place = next(place, part)) {
      if (part[place] !== key || part[place + 1] !== second || part[place + 2] !== (batch | 0)) continue;
      part[place + 2] = this.oldest - 1;
      return;
    }
  }

  /** Forgets the entries of all batches before this one. */
  forgetBefore(batch: number): void {
    this.oldest = batch;
  }

  /** Bytes that the entries take. */
  get size(): number {
    return this.parts.reduce((size, { byteLength }) => size + byteLength, 0);
  }

  private take(key: number, second: number, batch: number, place: number): void {
    this.oldest ??= batch;
    const index = key >>> 24;
    const part = this.parts[index]!;
    part[place] = key;
    part[place + 1] = second;
    part[place + 2] = batch;
    const taken = ++this.taken[index]!;
    if (WIDTH * taken > part.length * FULLEST) this.renew(index);
  }

  /** Makes a part anew, without what is forgotten, and with room for more. */
  private renew(index: number): void {
    const old = this.parts[index]!;
    let kept = 0;
    for (let place = 0; place < old.length; place += WIDTH) {
      if (old[place] !== 0 && isFrom(this.oldest, old[place + 2]!)) kept++;
    }
    const part = createPart(kept);
    for (let from = 0; from < old.length; from += WIDTH) {
      if (old[from] === 0 || !isFrom(this.oldest, old[from + 2]!)) continue;
      let place = placeOf(old[from]!, part);
      while (part[place] !== 0) place = next(place, part);
      part[place] = old[from]!;
      part[place + 1] = old[from + 1]!;
      part[place + 2] = old[from + 2]!;
    }
    this.parts[index] = part;
    this.taken[index] = kept;
  }
}

/** Whether an entry's batch, of which 32 bits are known, is another one or one after it. */
function isFrom(batch: number, low: number): boolean {
  return ((low - batch) | 0) >= 0;
}

function createPart(entries: number): Int32Array {
  return new Int32Array(WIDTH * Math.max(SMALLEST, Math.ceil(entries / FILLED)));
}

/** Where a key belongs: a greater one never before a smaller, so that a part is copied from front to back. */
function placeOf(key: number, part: Int32Array): number {
  return WIDTH * Math.floor(((key & 0xffffff) * (part.length / WIDTH)) / 0x1000000);
}

function next(place: number, part: Int32Array): number {
  return place + WIDTH === part.length ? 0 : place + WIDTH;
}
