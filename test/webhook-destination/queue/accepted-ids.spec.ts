import { describe, expect, it } from 'vitest';

import { AcceptedIds } from '../../../lib/stores/sqlite/accepted-ids.js';
import { IdHash } from '../../../lib/stores/sqlite/id-hash.js';

/** Whole numbers below a limit, the same in each run. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * limit);
  };
}

const messages = (batch: number, messageIds: string[]) => ({ batch, destination: 'W', source: 's', messageIds });

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe('The ids of accepted messages', () => {
  it('are found as they grow, and nothing else is', () => {
    const ids = new AcceptedIds();
    expect(ids.add(messages(1, names(0, 100_000)), 0)).toEqual([]);
    expect(ids.add(messages(2, names(0, 100_000)), 0)).toHaveLength(100_000);
    expect(ids.add(messages(3, names(100_000, 200_000)), 0)).toEqual([]);
    expect(ids.add({ ...messages(4, names(0, 1_000)), source: 'other' }, 0)).toEqual([]);
  });

  it.each([1, 2 ** 31 - 50, 2 ** 32 - 50, 2 ** 40])('are known by batches from %i on', (first) => {
    const ids = new AcceptedIds();
    for (let index = 0; index < 100; index++) ids.restore(messages(first + index, [`m${index}`]));
    ids.commit(first + 44);
    const isNew = (index: number) => ids.add(messages(first + 100, [`m${index}`]), 0).length === 0;
    expect([43, 44, 45, 73, 99].map(isNew)).toEqual([true, true, false, false, false]);
    expect(ids.add(messages(first + 101, ['m73', 'm74']), first + 74)).toEqual([1]);
  });

  it('takes no more memory while as many are forgotten as come', () => {
    const ids = new AcceptedIds();
    const { maps } = ids as unknown as { maps: Map<number, number>[] };
    for (let batch = 1; batch <= 10_000; batch++) {
      ids.add(messages(batch, names(batch * 15, batch * 15 + 15)), 0);
      ids.commit(batch - 2_000);
    }
    expect(maps.reduce((count, { size }) => count + size, 0)).toBe(2_000 * 15);
  });

  it.each([1, 2, 3])('are those of a plain map, whatever is committed or rolled back (%i)', (seed) => {
    const ids = new AcceptedIds();
    const random = createRandom(seed);
    let model = new Map<string, number>();
    let committed = new Map(model);
    let oldest = 0;
    const wrong: string[] = [];
    for (let batch = 1; batch <= 10_000; batch++) {
      const since = oldest + random(2) * random(50);
      const messageIds = Array.from({ length: 1 + random(5) }, () => `m${random(300)}`);
      const repeated = messageIds.flatMap((messageId, position) => {
        if ((model.get(messageId) ?? -1) >= since) return [position];
        model.set(messageId, batch);
        return [];
      });
      if (String(ids.add(messages(batch, messageIds), since)) !== String(repeated)) wrong.push(`batch ${batch}`);
      if (random(3) === 0) continue;
      if (random(4) === 0) {
        ids.rollback();
        model = new Map(committed);
      } else {
        if (batch - oldest > 200) oldest += random(100);
        ids.commit(oldest - 1);
        committed = new Map(model);
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
