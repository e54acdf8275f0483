import { openSync, readSync, writeSync } from 'node:fs';

import { readPragma, type SqliteConnection } from './sqlite.connection.js';

/** Size of a page in bytes. A batch takes several, with system calls for each; a small change writes a whole one. */
export const PAGE_SIZE = 8_192;

/** Share of free pages that is kept, compared with the pages in use, which are not all full either. */
const FREE_PART = 1 / 32;

/** Free pages that one call releases. Each is 8 KiB, and may have to swap places with a page in use. */
const SHRINK_PAGES = 256;

/** Beginning of a page of a table, by the file format: its kind, number of cells, start of the cells, and their places. */
const LEAF = 0x0d;
const LEAF_PLACES_AT = 8;
const INNER = 0x05;
const INNER_PLACES_AT = 12;
const CELLS_AT = 3;
const CONTENT_AT = 5;
const LAST_CHILD_AT = 8;

/** Where SQLite places its locks, in bytes: Windows lets nothing else read that page. */
const LOCKS_AT = 0x40000000;

export class SqlitePages {
  /** Pages in use after the file last shrank. */
  private usedBefore: number | undefined;
  /** Pages taken since then. */
  private demand: number | undefined;
  /** Never closed before the connection: closing any descriptor of a file ends all locks that the process holds on it. */
  private descriptor: number | undefined;
  private knownPageSize: number | undefined;
  /** Whether something was overwritten since this was last reset. */
  isOverwritten = false;

  constructor(
    private readonly db: SqliteConnection,
    private readonly path: string,
  ) {}

  /** Returns the size of the pages in use, in bytes. */
  usedBytes(): number {
    return this.used() * this.pageSize;
  }

  /** To be called before records are removed: the pages taken since the file last shrank will soon be taken again. */
  estimateDemand(): void {
    if (this.usedBefore !== undefined) this.demand ??= Math.max(this.used() - this.usedBefore, 0);
  }

  /**
   * Releases free pages at the end of the file; returns how many, and whether there are more. Pages that will soon be
   * taken again stay: releasing a page costs more than writing it.
   */
  shrink(): { pages: number; more: boolean } {
    const kept = Math.max(this.demand ?? 0, this.used() * FREE_PART);
    const excess = Math.max(Math.ceil(readPragma(this.db, 'freelist_count') - kept), 0);
    const pages = Math.min(excess, SHRINK_PAGES);
    if (pages > 0) this.db.exec(`PRAGMA incremental_vacuum(${pages})`);
    const more = excess > pages;
    if (!more) {
      this.usedBefore = this.used();
      this.demand = undefined;
    }
    return { pages, more };
  }

  /** Returns the number of pages in the file. */
  count(): number {
    return readPragma(this.db, 'page_count');
  }

  /** Returns the numbers of the pages of a table. To be called when the log is empty. */
  ofTable(name: string): Iterable<number> {
    const schema = this.db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name);
    const numbers = new Set([(schema as { rootpage: number }).rootpage]);
    for (const number of numbers) {
      const page = this.read(number);
      if (page?.[0] !== INNER) continue;
      numbers.add(page.readUInt32BE(LAST_CHILD_AT));
      for (let cell = 0; cell < page.readUInt16BE(CELLS_AT); cell++) {
        numbers.add(page.readUInt32BE(page.readUInt16BE(INNER_PLACES_AT + 2 * cell)));
      }
    }
    return numbers;
  }

  /**
   * Overwrites what pages have between their header and their rows. SQLite overwrites deleted data (`secure_delete`),
   * but not the former place of rows that it moves within a page. To be called between transactions, when the log is
   * empty: the file then has the current pages. SQLite never reads the bytes that are overwritten, so a crash meanwhile
   * damages nothing.
   */
  scrub(numbers: Iterable<number>): void {
    for (const number of numbers) {
      const page = this.read(number);
      if (page?.[0] !== LEAF) continue;
      const start = LEAF_PLACES_AT + 2 * page.readUInt16BE(CELLS_AT);
      const gap = page.subarray(start, page.readUInt16BE(CONTENT_AT));
      if (!gap.some((byte) => byte !== 0)) continue;
      writeSync(this.open(), gap.fill(0), 0, gap.length, (number - 1) * page.length + start);
      this.isOverwritten = true;
    }
    if (this.isOverwritten) this.db.exec('PRAGMA shrink_memory'); // a cached page would bring the bytes back
  }

  /** Reads a page from the file; returns undefined if it has none of that number. */
  private read(number: number): Buffer | undefined {
    const size = this.pageSize;
    const position = (number - 1) * size;
    if (position === LOCKS_AT) return undefined;
    const page = Buffer.allocUnsafe(size);
    return readSync(this.open(), page, 0, size, position) < size ? undefined : page;
  }

  private open(): number {
    return (this.descriptor ??= openSync(this.path, 'r+'));
  }

  /** Size of a page in bytes, once there are tables. */
  private get pageSize(): number {
    return (this.knownPageSize ??= readPragma(this.db, 'page_size'));
  }

  private used(): number {
    return this.count() - readPragma(this.db, 'freelist_count');
  }
}
