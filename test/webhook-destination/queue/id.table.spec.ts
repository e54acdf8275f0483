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

describe('The table of ids', () => {
  it('finds what it holds, and nothing else, as it grows', () => {
    const table = new IdTable();
    const random = createRandom(1);
    const hashes = new Set<number>();
    while (hashes.size < 100_000) hashes.add((random(2 ** 16) << 16) | random(2 ** 16));
    const list = [...hashes];
    expect(list.every((hash, index) => table.addNew(hash, index + 1))).toBe(true);
    expect(list.some((hash) => table.addNew(hash, 200_000))).toBe(false);
    for (const index of [0, 50_000, 99_999]) expect(table.batchesOf(list[index]!)).toEqual([index + 1]);
    expect(table.batchesOf(list.find((hash) => !hashes.has(hash + 1))! + 1)).toEqual([]);
    expect(table.size / list.length).toBeLessThan(16.5);
  });

  it.each([0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 0xffffff, 0xfe000000 | 0])('takes the hash %i', (hash) => {
    const table = new IdTable();
    expect(table.addNew(hash, 7)).toBe(true);
    expect(table.addNew(hash, 8)).toBe(false);
    expect(table.batchesOf(hash)).toEqual([7]);
  });

  it('holds many batches of one hash, which run over the end of a part', () => {
    const table = new IdTable();
    const batches = Array.from({ length: 1_000 }, (_, index) => index + 1);
    for (const batch of batches) table.add(-1, batch);
    for (const batch of batches) table.add(-1 - batch, batch);
    expect(table.batchesOf(-1).sort((a, b) => a - b)).toEqual(batches);
    table.remove(-1, 500);
    table.remove(-1, 500);
    table.remove(-1, 5_000);
    expect(table.batchesOf(-1)).toHaveLength(999);
    expect(table.batchesOf(-1)).not.toContain(500);
    expect(table.batchesOf(-501)).toEqual([500]);
    table.forgetBefore(991);
    expect(table.batchesOf(-1).sort((a, b) => a - b)).toEqual(batches.slice(990));
  });

  it.each([2 ** 31 - 50, 2 ** 32 - 50, 2 ** 40])('knows batches from %i on', (first) => {
    const table = new IdTable();
    for (let index = 0; index < 100; index++) table.add(index % 10, first + index);
    table.forgetBefore(first + 45);
    expect(table.batchesOf(3)).toEqual([53, 63, 73, 83, 93].map((index) => first + index));
    table.remove(3, first + 73);
    expect(table.batchesOf(3)).toEqual([53, 63, 83, 93].map((index) => first + index));
  });

  it('takes no more memory while as much is forgotten as comes', () => {
    const table = new IdTable();
    const random = createRandom(2);
    const add = (batch: number) => {
      for (let count = 0; count < 15; count++) table.add((random(2 ** 16) << 16) | random(2 ** 16), batch);
    };
    for (let batch = 1; batch <= 10_000; batch++) {
      add(batch);
      if (batch > 2_000) table.forgetBefore(batch - 2_000);
    }
    // A part holds 117 entries on average, and now and then a few more.
    expect(table.size / (2_000 * 15)).toBeLessThan(20);
  });

  it('takes what it has room for without growing', () => {
    const table = new IdTable();
    table.reserve(100_000);
    const { size } = table;
    const random = createRandom(3);
    for (let count = 0; count < 100_000; count++) table.add((random(2 ** 16) << 16) | random(2 ** 16), 1);
    expect(table.size).toBe(size);
  });

  it.each([1, 2, 3])('does as a plain map does, whatever comes (%i)', (seed) => {
    const table = new IdTable();
    const random = createRandom(seed);
    const model = new Map<number, number[]>();
    // Some share a place, and some a part.
    const hashes = Array.from({ length: 300 }, (_, index) => (random(3) << 24) | (random(8) << 20) | (index % 200));
    let oldest = 1;
    let batch = 1;
    const sorted = (batches: number[]) => [...batches].sort((a, b) => a - b).join();
    const known = (hash: number) => (model.get(hash) ?? []).filter((other) => other >= oldest);
    const wrong: string[] = [];
    const check = (step: number, hash: number, isRight = sorted(table.batchesOf(hash)) === sorted(known(hash))) => {
      if (!isRight) wrong.push(`step ${step}, hash ${hash}`);
    };
    for (let step = 0; step < 30_000; step++) {
      batch += random(2);
      const hash = hashes[random(hashes.length)]!;
      const action = random(10);
      if (action < 5) {
        const isNew = known(hash).length === 0;
        check(step, hash, table.addNew(hash, batch) === isNew);
        if (isNew) model.set(hash, [batch]);
      } else if (action < 7) {
        table.add(hash, batch);
        model.set(hash, [...known(hash), batch]);
      } else if (action < 9) {
        const [removed = batch, ...others] = known(hash);
        table.remove(hash, removed);
        model.set(hash, others);
      } else if (batch - oldest > 200) {
        oldest += random(100);
        table.forgetBefore(oldest);
      }
      check(step, hash);
    }
    for (const hash of hashes) check(Infinity, hash);
    expect(wrong).toEqual([]);
  });
});

describe('The hash of ids', () => {
  it('is another in each process, as are those of texts that differ', () => {
    const hash = new IdHash();
    const texts = Array.from({ length: 10_000 }, (_, index) => `message-${index}`);
    const hashes = texts.map((text) => hash.hash(text));
    // Of 10,000 texts, 0.01 pairs share a hash.
    expect(new Set(hashes).size).toBeGreaterThan(9_997);
    expect(hash.hash(texts[7]!)).toBe(hashes[7]);
    expect(hash.hash(texts[7]!, 1)).not.toBe(hashes[7]);
    expect(hash.hash('a')).not.toBe(hash.hash('a\0'));
    expect(new IdHash().hash(texts[7]!)).not.toBe(hashes[7]);
    expect(hash.hash('x'.repeat(1_000))).not.toBe(hash.hash('x'.repeat(999) + 'y'));
  });

  it('spreads ids that differ in a digit', () => {
    const hash = new IdHash();
    const parts = new Array<number>(256).fill(0);
    for (let index = 0; index < 256_000; index++) parts[hash.hash(`message-${index}`) >>> 24]!++;
    expect(Math.max(...parts)).toBeLessThan(1_250);
    expect(Math.min(...parts)).toBeGreaterThan(750);
  });
});
