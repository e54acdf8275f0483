import Database from 'libsql';
import { describe, expect, it, vi } from 'vitest';

import { AcceptedTable } from '../../../lib/stores/sqlite/accepted.table.js';
import { SCHEMA } from '../../../lib/stores/sqlite/sqlite.schema.js';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;

/** A table of accepted messages, and its transactions. */
class Accepted {
  private table;
  private batch = 0;
  now = NOW;

  constructor(
    private readonly bound = { age: 24 * HOUR, count: 1_000 },
    readonly db = new Database(':memory:'),
  ) {
    db.exec(SCHEMA);
    this.table = new AcceptedTable(db, bound);
  }

  /** Adds a batch in a transaction of its own. */
  add(messageIds: string[], source = 'shop'): number[] {
    return this.transaction(() => this.addHere(messageIds, source));
  }

  addHere(messageIds: string[], source = 'shop'): number[] {
    const messages = { destination: 'Webhooks', source, messageIds: JSON.stringify(messageIds) };
    return this.table.add({ ...messages, batch: ++this.batch }, this.now);
  }

  transaction<T>(work: () => T): T {
    this.db.exec('BEGIN');
    try {
      const result = work();
      this.table.write();
      this.db.exec('COMMIT');
      this.table.commit();
      return result;
    } catch (error) {
      this.db.exec('ROLLBACK');
      this.table.rollback();
      throw error;
    }
  }

  sweep(): void {
    this.transaction(() => this.table.trim(this.now));
  }

  /** Opens the file again; batches go on at a number. */
  reopen(batch = this.batch): void {
    this.batch = batch;
    this.table = new AcceptedTable(this.db, this.bound);
    this.transaction(() => this.table.recover(this.now));
  }

  /** The ids in the file, the oldest first. */
  stored(): string[] {
    const rows = this.db.prepare('SELECT batches FROM accepted ORDER BY last_batch').all() as { batches: string }[];
    return rows.flatMap(({ batches }) =>
      (JSON.parse(batches) as [number, string, string, string[]][]).flatMap((b) => b[3]),
    );
  }
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe('The table of accepted messages', () => {
  it('tells which were accepted before, in a batch and in those before it, and stores the others', () => {
    const accepted = new Accepted();
    expect(accepted.add(['a', 'b', 'a', '"c\\', 'é'])).toEqual([2]);
    expect(accepted.add(['d', '"c\\', 'd', 'é', 'a'])).toEqual([1, 2, 3, 4]);
    expect(accepted.add(['a', 'b'])).toEqual([0, 1]);
    expect(accepted.add(['a', 'b'], 'blog')).toEqual([]);
    expect(accepted.stored()).toEqual(['a', 'b', '"c\\', 'é', 'd', 'a', 'b']);
  });

  it('has rows of some hundred ids, as all of a row is read to find one', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 1_000_000 });
    const batches = Array.from({ length: 20 }, (_, batch) => names(batch * 250, (batch + 1) * 250));
    accepted.transaction(() => batches.forEach((batch) => accepted.addHere(batch)));
    const rows = accepted.db.prepare('SELECT batches FROM accepted').all() as { batches: string }[];
    expect(Math.max(...rows.map(({ batches: row }) => row.match(/"m/g)!.length))).toBeLessThanOrEqual(512);
    expect(accepted.add(names(0, 5_000))).toHaveLength(5_000);
  });

  it('reads no row to find what is posted again, however many rows it lies in', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 1_000_000 });
    for (let batch = 0; batch < 1_000; batch++) accepted.add(names(batch * 5, batch * 5 + 5));
    const parse = vi.spyOn(JSON, 'parse');
    expect(accepted.add(names(0, 1_000).map((_, index) => `m${index * 5}`))).toHaveLength(1_000);
    expect(parse.mock.calls).toHaveLength(1); // that of the ids posted
    parse.mockRestore();
  });

  it('tells them apart that were committed together, as a row of the file', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 100_000 });
    accepted.transaction(() => {
      expect(accepted.addHere(['a', 'b'])).toEqual([]);
      expect(accepted.addHere(['b', 'c'], 'blog')).toEqual([]);
      expect(accepted.addHere(['c', 'b', 'a'])).toEqual([1, 2]);
    });
    expect(accepted.db.prepare('SELECT count(*) AS count FROM accepted').get()).toMatchObject({ count: 1 });
    for (const again of [false, true]) {
      if (again) accepted.reopen();
      accepted.transaction(() => {
        expect(accepted.addHere(['a', 'b', 'c'])).toEqual([0, 1, 2]);
        expect(accepted.addHere([again ? 'f' : 'e', 'c', 'b'], 'blog')).toEqual([1, 2]);
      });
    }
    expect(accepted.add(['a'], 'blog')).toEqual([]);
  });

  it.each([0, 2 ** 31 - 2, 2 ** 33])('knows them after a restart, when batches have numbers from %i on', (first) => {
    const accepted = new Accepted();
    accepted.reopen(first);
    for (let batch = 0; batch < 60; batch++) accepted.add(names(batch * 15, batch * 15 + 15));
    expect(accepted.add(names(0, 900))).toHaveLength(900);
    accepted.reopen();
    expect(accepted.add(names(0, 900))).toHaveLength(900);
    expect(accepted.add(names(900, 915))).toEqual([]);
  });

  it('forgets what a failed transaction added, and remembers what it removed', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 10 });
    for (const messageId of names(0, 10)) accepted.add([messageId]);
    const fail = () =>
      accepted.transaction(() => {
        expect(accepted.addHere(['m5', 'new', 'newer', 'newest'])).toEqual([0]);
        expect(accepted.addHere(['new'])).toEqual([0]);
        // Three of the oldest have gone by now.
        expect(accepted.addHere(['m0'])).toEqual([]);
        throw new Error('the disk is full');
      });
    for (let time = 0; time < 3; time++) expect(fail).toThrow('the disk is full');
    expect(accepted.stored()).toEqual(names(0, 10));
    expect(accepted.add(names(0, 10))).toHaveLength(10);
    expect(accepted.add(['new', 'newer'])).toEqual([]);
    expect(accepted.stored()).toEqual([...names(2, 10), 'new', 'newer']);
  });

  it('never holds more than the bound of their number, nor much less', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 1_000 });
    for (let batch = 0; batch < 200; batch++) {
      accepted.add(names(batch * 15, batch * 15 + 15));
      if (batch === 120) accepted.reopen();
      if (batch < 70) continue;
      const { length } = accepted.stored();
      expect(length).toBeGreaterThan(1_000 - 2 * 16 - 15);
      expect(length).toBeLessThanOrEqual(1_000);
    }
    expect(accepted.stored().at(-1)).toBe('m2999');
    expect(accepted.add(names(2_055, 3_000))).toHaveLength(945);
    expect(accepted.add(names(0, 15))).toEqual([]);
  });

  it('holds none when their number is to be 0', () => {
    const accepted = new Accepted({ age: 24 * HOUR, count: 0 });
    expect([accepted.add(['a', 'a']), accepted.add(['a'])]).toEqual([[1], []]);
    expect(accepted.stored()).toEqual([]);
  });

  it('forgets each at its age, and removes it from the file soon after', () => {
    const accepted = new Accepted();
    for (const messageId of names(0, 100)) {
      accepted.add([messageId]);
      accepted.now += HOUR / 4;
    }
    // The first is 25 hours old, the fifth 24.
    expect(accepted.add(names(0, 100))).toEqual(Array.from({ length: 95 }, (_, index) => index + 5));
    accepted.now += 30 * HOUR;
    accepted.sweep();
    expect(accepted.stored()).toEqual([]);
    expect(accepted.add(['m99'])).toEqual([]);
  });
});
