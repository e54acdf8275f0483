import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import Database from 'libsql';
import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { openQueue } from '../../support/open-queue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The mark of a queue's file, "NARQ". */
const MARK = 'PRAGMA application_id = 0x4e415251';

describe('The layout of the SQLite file', () => {
  const cleanUp = useCleanUps();

  async function createPath(): Promise<string> {
    const folder = await temporaryFolder(cleanUp);
    return folder.path('relay.db');
  }

  async function createFile(sql: string): Promise<string> {
    const path = await createPath();
    const db = new Database(path);
    db.exec(sql);
    db.close();
    return path;
  }

  it('is layout 1, under the mark of the package', async () => {
    const path = await createPath();
    const queue = sqliteQueue({ path })();
    await queue.open();
    await queue.close();
    const db = new Database(path);
    expect(db.pragma('user_version')).toEqual([{ user_version: 1 }]);
    expect(db.pragma('application_id')).toEqual([{ application_id: 0x4e415251 }]);
    db.close();
  });

  const another = (layout: number) =>
    `the file has layout ${layout}, from another version of nestjs-analytics-relay; this version reads layout 1: install`;

  it.each([
    ['with tables', 'CREATE TABLE kept (id INTEGER)', 'a database of another application'],
    ['with its own versions', 'CREATE TABLE kept (id INTEGER); PRAGMA user_version = 1', 'of another application'],
    ['with one of the same names', 'CREATE TABLE delivery (id); PRAGMA user_version = 1', 'of another application'],
    ['with a mark of its own', 'PRAGMA application_id = 7', 'of another application'],
    ['with a version and no table', 'PRAGMA user_version = 1', 'of another application'],
    ['of an older layout', `CREATE TABLE delivery (id); ${MARK}`, another(0)],
    ['of a newer layout', `CREATE TABLE delivery (id); ${MARK}; PRAGMA user_version = 2`, another(2)],
  ])('is not imposed on a file %s: it is refused, and stays as it is', async (_what, sql, reason) => {
    const path = await createFile(sql);
    const before = readFileSync(path);
    const { mtimeMs } = statSync(path);
    const queue = sqliteQueue({ path })();
    const refusal = expect(queue.open()).rejects;
    await refusal.toThrow(reason);
    await expect(queue.open()).rejects.toThrow(`SQLite queue ${path}: `);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(statSync(path).mtimeMs).toBe(mtimeMs);
    expect(readdirSync(path.replace('relay.db', ''))).toEqual(['relay.db']);
  });

  it('is made in a file that is empty', async () => {
    const path = await createPath();
    writeFileSync(path, '');
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    expect(await queue.list({})).toEqual([]);
  });
});
