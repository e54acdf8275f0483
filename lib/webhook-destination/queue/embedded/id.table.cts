/** Parts of the table, which grow one by one: no pause is long, and no peak of memory is twice what is held. */
const PARTS = 256;

/** Entries that a part has room for, at least. */
const SMALLEST = 16;

/** A part is made anew when so much of it is taken, with so much of it taken by what is not forgotten. */
const FULLEST = 0.75;
const FILLED = 0.5;

/**
 * In which batch an id may be, by a hash of the id: 11 to 16 bytes an entry. Many ids may have one hash.
 *
 * A hash of 32 bits and the number of a batch lie side by side, at the first free place from the one that the hash
 * says on. What is forgotten stays there until its part is made anew. Of a batch's number 32 bits are kept: those
 * remembered at one time may be 2^31 apart, beyond which a forgotten one seems to be there again.
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

  /** Adds an entry, unless there is one of the hash; tells whether it did. */
  addNew(hash: number, batch: number): boolean {
    const key = hash || 1; // 0 marks a free place
    const part = this.parts[key >>> 24]!;
    let place = placeOf(key, part);
    for (let found = part[place]!; found !== 0; found = part[place]!) {
      if (found === key && this.isKept(part[place + 1]!)) return false;
      place = next(place, part);
    }
    this.take(key, batch, place);
    return true;
  }

  /** Adds an entry, also beside others of the hash. */
  add(hash: number, batch: number): void {
    const key = hash || 1;
    const part = this.parts[key >>> 24]!;
    let place = placeOf(key, part);
    while (part[place] !== 0) place = next(place, part);
    this.take(key, batch, place);
  }

  /** The batches that the entries of a hash are of. */
  batchesOf(hash: number): number[] {
    return this.placesOf(hash).map((place) => {
      const low = this.parts[(hash || 1) >>> 24]![place + 1]!;
      return this.oldest + ((low - this.oldest) >>> 0);
    });
  }

  /** Removes an entry. */
  remove(hash: number, batch: number): void {
    const part = this.parts[(hash || 1) >>> 24]!;
    const place = this.placesOf(hash).find((place) => part[place + 1] === (batch | 0));
    if (place !== undefined) part[place + 1] = this.oldest - 1;
  }

  /** Forgets the entries of all batches before this one. */
  forgetBefore(batch: number): void {
    this.oldest = batch;
  }

  /** Bytes that the entries take. */
  get size(): number {
    return this.parts.reduce((size, { byteLength }) => size + byteLength, 0);
  }

  private take(key: number, batch: number, place: number): void {
    this.oldest ??= batch;
    const index = key >>> 24;
    const part = this.parts[index]!;
    part[place] = key;
    part[place + 1] = batch;
    const taken = ++this.taken[index]!;
    if (2 * taken > part.length * FULLEST) this.renew(index);
  }

  private isKept(low: number): boolean {
    return ((low - this.oldest) | 0) >= 0;
  }

  private placesOf(hash: number): number[] {
    const key = hash || 1;
    const part = this.parts[key >>> 24]!;
    const places: number[] = [];
    for (let place = placeOf(key, part); part[place] !== 0; place = next(place, part)) {
      if (part[place] === key && this.isKept(part[place + 1]!)) places.push(place);
    }
    return places;
  }

  /** Makes a part anew, without what is forgotten, and with room for more. */
  private renew(index: number): void {
    const old = this.parts[index]!;
    let kept = 0;
    for (let place = 0; place < old.length; place += 2) {
      if (old[place] !== 0 && this.isKept(old[place + 1]!)) kept++;
    }
    const part = createPart(kept);
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0 || !this.isKept(old[from + 1]!)) continue;
      let place = placeOf(old[from]!, part);
      while (part[place] !== 0) place = next(place, part);
      part[place] = old[from]!;
      part[place + 1] = old[from + 1]!;
    }
    this.parts[index] = part;
    this.taken[index] = kept;
  }
}

function createPart(entries: number): Int32Array {
  return new Int32Array(2 * Math.max(SMALLEST, Math.ceil(entries / FILLED)));
}

/** Where a key belongs: a greater one never before a smaller, so that a part is copied from front to back. */
function placeOf(key: number, part: Int32Array): number {
  return 2 * Math.floor(((key & 0xffffff) * (part.length / 2)) / 0x1000000);
}

function next(place: number, part: Int32Array): number {
  return place + 2 === part.length ? 0 : place + 2;
}
