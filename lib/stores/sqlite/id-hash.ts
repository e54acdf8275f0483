import { webcrypto } from 'node:crypto';

/** The hash of an id: 64 bits, as two signed numbers. */
export interface IdKey {
  readonly first: number;
  readonly second: number;
}

/**
 * Hashes texts to 64 bits with HalfSipHash-1-3, under a random key that is new in each process.
 * Without the key, nobody can choose texts with the same hash, or derive more of them from a known pair.
 */
export class IdHash implements IdKey {
  private readonly key = webcrypto.getRandomValues(new Int32Array(2));
  first = 0;
  second = 0;

  /** Sets this to the hash of a text that follows a previous hash. */
  update(text: string, { first, second }: IdKey = { first: 0, second: 0 }): void {
    const [k0, k1] = this.key as unknown as [number, number];
    const { length } = text;
    const words = 3 + (length >>> 1);
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = k0 ^ 0x6c796765;
    let v3 = k1 ^ 0x74656462;
    for (let round = 0; round < words + 6; round++) {
      let word = 0;
      if (round === 0) word = first;
      else if (round === 1) word = second;
      else if (round < words - 1) word = text.charCodeAt(2 * round - 4) | (text.charCodeAt(2 * round - 3) << 16);
      else if (round === words - 1) word = ((length & 1) === 1 ? text.charCodeAt(length - 1) : 0) | (length << 16);

      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;

      if (round === words - 1) {
        v2 ^= 0xee;
      } else if (round === words + 2) {
        this.first = v1 ^ v3;
        v1 ^= 0xdd;
      }
    }
    this.second = v1 ^ v3;
  }
}
