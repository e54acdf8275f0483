import { describe, expect, it } from '@jest/globals';

import idHash from '../../../dist/cjs/webhook-destination/queue/embedded/id.hash.cjs';
import idTable from '../../../dist/cjs/webhook-destination/queue/embedded/id.table.cjs';

const { IdTable } = idTable;
const { IdHash } = idHash;

/** Whole numbers below a limit, the same in each run. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * limit);
  };
}

const key = (first: number, second = 0) => ({ first, second });

describe('The table of ids', () => {
  it('finds what it holds, and nothing else, as it grows', () => {
    const table = new IdTable();
    const random = createRandom(1);
    const hashes = new Set<number>();
    while (hashes.size < 100_000) hashes.add((random(2 ** 16) << 16) | random(2 ** 16));
    const list = [...hashes].map((hash) => key(hash, hash % 7));
    expect(list.every((hash, index) => table.addNew(hash, index + 1))).toBe(true);
    expect(list.some((hash) => table.addNew(hash, 200_000))).toBe(false);
    for (const { first, second } of [list[0]!, list[50_000]!]) {
      expect(table.addNew(key(first, second + 1), 200_000)).toBe(true);
    }
    expect(table.size / list.length).toBeLessThan(24.5);
  });

  it.each([0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 0xffffff, 0xfe000000 | 0])('takes the hash %i', (hash) => {
    const table = new IdTable();
    expect(table.addNew(key(hash, hash), 7)).toBe(true);
    expect(table.addNew(key(hash, hash), 8)).toBe(false);
    expect(table.addNew(key(hash, ~hash), 8)).toBe(true);
  });

  it('holds many entries at one place, which run over the end of a part', () => {
    const table = new IdTable();
    const count = 1_000;
    for (let second = 0; second < count; second++) table.add(key(-1, second), second + 1);
    for (let second = 0; second < count; second++) table.add(key(-1 - second, -1), second + 1);
    const isThere = (second: number) => !table.addNew(key(-1, second), 5_000);
    expect(Array.from({ length: count }, (_, second) => isThere(second)).every(Boolean)).toBe(true);
    table.remove(key(-1, 500), 501);
    table.remove(key(-1, 501), 5_000);
    expect([isThere(500), isThere(501)]).toEqual([false, true]);
    table.forgetBefore(991);
    expect([isThere(989), isThere(990)]).toEqual([false, true]);
  });

  it('counts entries from a batch on, and none that is forgotten', () => {
    const table = new IdTable();
    for (let batch = 1; batch <= 10; batch++) table.add(key(batch), batch);
    table.forgetBefore(4);
    expect(table.addNew(key(3), 11, 2)).toBe(true);
    expect(table.addNew(key(4), 12, 2)).toBe(false);
    expect(table.addNew(key(6), 13, 7)).toBe(true);
    expect(table.addNew(key(7), 14, 7)).toBe(false);
  });

  it.each([2 ** 31 - 50, 2 ** 32 - 50, 2 ** 40])('knows batches from %i on', (first) => {
    const table = new IdTable();
    for (let index = 0; index < 100; index++) table.add(key(index), first + index);
    table.forgetBefore(first + 45);
    table.remove(key(73), first + 73);
    const isNew = (index: number) => table.addNew(key(index), first + 100);
    expect([43, 44, 45, 73, 74, 99].map(isNew)).toEqual([true, true, false, true, false, false]);
  });

  it('takes no more memory while as much is forgotten as comes', () => {
    const table = new IdTable();
    const random = createRandom(2);
    const add = (batch: number) => {
      for (let count = 0; count < 15; count++) table.add(key((random(2 ** 16) << 16) | random(2 ** 16)), batch);
    };
    for (let batch = 1; batch <= 10_000; batch++) {
      add(batch);
      if (batch > 2_000) table.forgetBefore(batch - 2_000);
    }
    // A part holds 117 entries on average, and now and then a few more.
    expect(table.size / (2_000 * 15)).toBeLessThan(30);
  });

  it('takes what it has room for without growing', () => {
    const table = new IdTable();
    table.reserve(100_000);
    const { size } = table;
    const random = createRandom(3);
    for (let count = 0; count < 100_000; count++) table.add(key((random(2 ** 16) << 16) | random(2 ** 16)), 1);
    expect(table.size).toBe(size);
  });

  it.each([1, 2, 3])('does as a plain map does, whatever comes (%i)', (seed) => {
    const table = new IdTable();
    const random = createRandom(seed);
    /** The batches of each key, by its number. */
    const model = new Map<number, number[]>();
    // Some share a place, and some a part, and some the first half of their key.
    const keys = Array.from({ length: 300 }, (_, index) =>
      key((random(3) << 24) | (random(8) << 20) | (index % 50), index),
    );
    let oldest = 1;
    let batch = 1;
    const known = (index: number, since = oldest) => (model.get(index) ?? []).filter((other) => other >= since);
    const wrong: string[] = [];
    for (let step = 0; step < 30_000; step++) {
      batch += random(2);
      const index = random(keys.length);
      const action = random(10);
      if (action < 6) {
        const since = oldest + random(2) * random(50);
        const isNew = known(index, since).length === 0;
        if (table.addNew(keys[index]!, batch, since) !== isNew) wrong.push(`step ${step}, key ${index}`);
        if (isNew) model.set(index, [...known(index), batch]);
      } else if (action < 7) {
        table.add(keys[index]!, batch);
        model.set(index, [...known(index), batch]);
      } else if (action < 9) {
        const [removed = batch] = known(index);
        table.remove(keys[index]!, removed);
        const left = known(index);
        left.splice(left.indexOf(removed) >>> 0, 1);
        model.set(index, left);
      } else if (batch - oldest > 200) {
        oldest += random(100);
        table.forgetBefore(oldest);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('The hash of ids', () => {
  const hashOf = (hash: InstanceType<typeof IdHash>, text: string, start?: { first: number; second: number }) => {
    hash.update(text, start);
    return `${hash.first} ${hash.second}`;
  };

  it('is another in each process, as are those of texts that differ', () => {
    const hash = new IdHash();
    const texts = Array.from({ length: 10_000 }, (_, index) => `message-${index}`);
    const hashes = texts.map((text) => hashOf(hash, text));
    expect(new Set(hashes).size).toBe(texts.length);
    expect(hashOf(hash, texts[7]!)).toBe(hashes[7]);
    expect(hashOf(hash, texts[7]!, { first: 0, second: 1 })).not.toBe(hashes[7]);
    expect(hashOf(new IdHash(), texts[7]!)).not.toBe(hashes[7]);
    const similar = ['', '\0', 'a', 'a\0', 'a\0\0', 'ab', 'ba', 'aab', 'x'.repeat(1_000), `${'x'.repeat(999)}y`];
    expect(new Set(similar.map((text) => hashOf(hash, text))).size).toBe(similar.length);
  });

  it('spreads ids that differ in a digit', () => {
    const hash = new IdHash();
    const parts = new Array<number>(256).fill(0);
    for (let index = 0; index < 256_000; index++) {
      hash.update(`message-${index}`);
      parts[hash.first >>> 24]!++;
    }
    expect(Math.max(...parts)).toBeLessThan(1_250);
    expect(Math.min(...parts)).toBeGreaterThan(750);
  });

  it('spreads ids that differ in the highest bit of their characters, in each half', () => {
    const hash = new IdHash();
    const random = createRandom(4);
    const halves = [new Set<number>(), new Set<number>()];
    for (let index = 0; index < 100_000; index++) {
      hash.update(Array.from({ length: 98 }, () => (random(2) === 1 ? '\u8041' : 'A')).join(''));
      halves[0]!.add(hash.first);
      halves[1]!.add(hash.second);
    }
    // One pair is to be expected.
    for (const { size } of halves) expect(size).toBeGreaterThan(99_980);
  });
});
