import { webcrypto } from 'node:crypto';

/** Random factors; a messageId has fewer than 100 characters, and so one for each. */
const FACTORS = 128;

/**
 * Hashes texts to 32 bits, in each process anew: the sum of the characters, each times a random factor of its place.
 * Nobody who does not know the factors can make texts whose hashes are the same, but by luck.
 */
export class IdHash {
  private readonly factors = webcrypto.getRandomValues(new Int32Array(FACTORS));

  /** The hash of a text that follows what `start` is the hash of. */
  hash(text: string, start = 0): number {
    const { factors } = this;
    const { length } = text;
    let hash = (start + Math.imul(length, factors[FACTORS - 1]!)) | 0;
    for (let index = 0; index < length; index++) {
      hash = (hash + Math.imul(text.charCodeAt(index), factors[index & (FACTORS - 1)]!)) | 0;
    }
    // Spreads texts that differ in a digit over all of the table (the end of MurmurHash3).
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }
}
