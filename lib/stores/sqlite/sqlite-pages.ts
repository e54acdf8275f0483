import type Database from 'libsql';

/** Size of a page in bytes. A batch takes several, with system calls for each; a small change writes a whole one. */
export const PAGE_SIZE = 8_192;

/** Share of free pages that is kept, compared with the pages in use, which are not all full either. */
const FREE_PART = 1 / 32;

/** Free pages that one call releases. Each is 8 KiB, and may have to swap places with a page in use. */
const SHRINK_PAGES = 256;

/** Beginning of a page with rows, by the file format: its kind, row count, start of the rows, and their places. */
const KIND = '0D';
const ROWS_AT = 3;
const CONTENT_AT = 5;
const PLACES_AT = 8;

export class SqlitePages {
  /** Pages in use after the file last shrank. */
  private usedBefore: number | undefined;
  /** Pages taken since then. */
  private demand: number | undefined;

  constructor(private readonly db: Database.Database) {}

  /** Returns the size of the pages in use, in bytes. */
  usedBytes(): number {
    return this.used() * readPragma(this.db, 'page_size');
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

  /**
   * Overwrites what pages have between their header and their rows. SQLite overwrites deleted data (`secure_delete`),
   * but not the former place of rows that it moves within a page.
   */
  scrub(numbers: number[]): void {
    const leaves = this.db.prepare(
      `SELECT pgno, data FROM json_each(?) CROSS JOIN sqlite_dbpage ON pgno = value
       WHERE hex(substr(data, 1, 1)) = '${KIND}'`,
    );
    const write = this.db.prepare('UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?');
    for (const { pgno, data } of leaves.all(JSON.stringify(numbers)) as { pgno: number; data: ArrayBuffer }[]) {
      const page = Buffer.from(data);
      const start = PLACES_AT + 2 * page.readUInt16BE(ROWS_AT);
      const end = page.readUInt16BE(CONTENT_AT);
      if (!page.subarray(start, end).some((byte) => byte !== 0)) continue;
      page.fill(0, start, end);
      write.run(page, pgno);
    }
  }

  private used(): number {
    return this.count() - readPragma(this.db, 'freelist_count');
  }
}

/** Returns the value of a pragma, which is a number. */
export function readPragma(db: Database.Database, name: string): number {
  const [row] = db.pragma(name) as [Record<string, number>];
  return row[name]!;
}
