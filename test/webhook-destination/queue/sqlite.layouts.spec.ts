import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { type DeliveryQueue, sqliteQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../../support/clean-ups.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

/** Files of each layout, made by the code that wrote it. */
const LAYOUTS = 'test/webhook-destination/queue/layouts';
const fixtures = readdirSync(LAYOUTS).map((name) => ({ layout: Number(/\d+/.exec(name)), file: `${LAYOUTS}/${name}` }));

/** The first layout with a registry. */
const REGISTRY_LAYOUT = 6;

/** The deliveries in each of them, as they are after a start: what was leased waits. */
const STATES = {
  settled: 'delivered',
  closed: 'delivered',
  released: 'waiting',
  kept: 'queued',
  stored: 'queued',
  first: 'delivered',
  dead: 'dead',
  waiting: 'waiting',
  late: 'delivered',
  again: 'waiting',
  leased: 'waiting',
  second: 'delivered',
  third: 'waiting',
};
const DUE = ['released', 'kept', 'stored', 'again', 'leased', 'third'];
const ACCEPTED_AT = 1_700_000_000_000;

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

  function open(path: string): Promise<DeliveryQueue> {
    // The ids of the fixtures are remembered whenever the test runs.
    return openQueue(cleanUp, sqliteQueue({ path, retention: { messageIds: { age: Number.MAX_SAFE_INTEGER } } }));
  }

  async function statesIn(queue: DeliveryQueue) {
    return Object.fromEntries((await queue.list({})).map(({ messageId, state }) => [messageId, state]));
  }

  /** Of a closed file: SQLite keeps `user_version` at this place. */
  const layoutOf = (path: string) => readFileSync(path).readUInt32BE(60);

  async function latestLayout(): Promise<number> {
    const path = await createPath();
    const queue = sqliteQueue({ path })();
    await queue.open();
    await queue.close();
    return layoutOf(path);
  }

  it('has a file kept here for each number since the first', async () => {
    const layouts = Array.from({ length: (await latestLayout()) - 2 }, (_, index) => index + 3);
    expect(fixtures.map(({ layout }) => layout).sort((a, b) => a - b)).toEqual(layouts);
  });

  it.each(fixtures)('$layout is brought up to date, and everything in it delivered', async ({ layout, file }) => {
    const path = await createFile(readFileSync(file, 'utf8'));
    const queue = await open(path);
    const record = { kind: 'destination', name: 'Kept', document: '{"name":"Kept"}' } as const;
    expect(await queue.registry!.read(0)).toMatchObject(layout < REGISTRY_LAYOUT ? [] : [record]);
    expect(await queue.registry!.write({ ...record, name: 'New' }, 0)).toBeGreaterThan(0);
    expect(await statesIn(queue)).toEqual(STATES);
    expect(await queue.list({ messageId: 'dead' })).toMatchObject([
      {
        body: '{"version":1,"type":"track","event":"dead","userId":"u1"}',
        reason: 'refused',
        acceptedAt: ACCEPTED_AT,
        failedUrls: ['https://gone.example/hook'],
        attempts: [{ startedAt: ACCEPTED_AT + 1_000, results: [{ status: 410 }] }],
      },
    ]);
    // The ids of messages are still known.
    const [kept] = await queue.list({ messageId: 'kept' });
    await queue.add([{ ...kept!, body: Buffer.from(kept!.body) }]);

    const delivered: string[] = [];
    for (const destination of ['Webhooks', 'Other']) {
      const subscription = queue.consume(destination, 4).subscribe(({ delivery, settle }) => {
        const attempt = { startedAt: Date.now(), results: [] };
        void settle({ state: 'delivered', attempt }).then(() => delivered.push(delivery.messageId));
      });
      cleanUp(() => subscription.unsubscribe());
    }
    await waitFor(() => delivered.length >= DUE.length);
    await queue.idle();
    expect(delivered.sort()).toEqual([...DUE].sort());
    const ended = Object.fromEntries(DUE.map((messageId) => [messageId, 'delivered']));
    expect(await statesIn(queue)).toEqual({ ...STATES, ...ended });
    expect(await queue.replay({ state: 'dead' })).toBe(1);
    await queue.close();

    expect(layoutOf(path)).toBe(await latestLayout());
    expect((await statesIn(await open(path))).waiting).toBe('waiting');
  });

  const layout4 = readFileSync(`${LAYOUTS}/layout-4.sql`, 'utf8');

  it('4 had bodies in two places: they are found where their batch was removed', async () => {
    // The fourth batch is that of the deliveries with rows of their own.
    const path = await createFile(`${layout4}; DELETE FROM batch WHERE id = 4; DELETE FROM outcome WHERE batch = 4`);
    const queue = await open(path);
    const gone = { first: undefined, leased: undefined };
    expect(await statesIn(queue)).toEqual(JSON.parse(JSON.stringify({ ...STATES, ...gone })));
    for (const { messageId, body } of await queue.list({})) expect(body).toContain(`"event":"${messageId}"`);
    expect(await queue.purge({ messageId: 'dead' })).toBe(1);
    expect(await queue.list({ messageId: 'late' })).toMatchObject([{ attempts: [{}, {}] }]);
  });

  it('4 left bodies behind: those that no record is left of are removed, and what is deleted is overwritten', async () => {
    const path = await createFile(
      `${layout4}; DELETE FROM delivery WHERE message_id = 'dead';
       CREATE TABLE forgotten (body BLOB); INSERT INTO forgotten VALUES (zeroblob(20000) || 'forgotten body');
       DROP TABLE forgotten`,
    );
    const holds = (text: string) => readFileSync(path).includes(text);
    expect([holds('"event":"dead"'), holds('forgotten body')]).toEqual([true, true]);
    const queue = await open(path);
    expect(Object.keys(await statesIn(queue))).not.toContain('dead');
    await queue.close();
    expect([holds('"event":"dead"'), holds('forgotten body')]).toEqual([false, false]);
    expect(holds('"event":"waiting"')).toBe(true);
  });

  it('4 left outcomes behind as well: a batch that has no other is delivered, listed and deleted', async () => {
    const body = (event: string) => `{"version":1,"type":"track","event":"${event}","userId":"u1"}`;
    const [gone, kept] = [body('forgotten'), body('unsettled')];
    const items = `[["forgotten","unsettled"],["u1","u1"],[${gone.length},${kept.length}]]`;
    const path = await createFile(
      `${layout4}; INSERT INTO outcome VALUES (6, 1, ${ACCEPTED_AT}, 0, 1, '[0]');
       INSERT INTO batch VALUES (6, 'Late', 'shop', 'l', 2, ${ACCEPTED_AT}, ${ACCEPTED_AT}, '${items}',
         CAST('${gone}${kept}' AS BLOB))`,
    );
    const queue = await open(path);
    const attempt = { startedAt: ACCEPTED_AT, results: [] };
    const subscription = queue
      .consume('Late', 4)
      .subscribe(({ settle }) => void settle({ state: 'delivered', attempt }));
    cleanUp(() => subscription.unsubscribe());
    await queue.idle();
    expect(await statesIn(queue)).toEqual({ ...STATES, unsettled: 'delivered' });
    expect(await queue.list({ destination: 'Late' })).toMatchObject([{ messageId: 'unsettled', body: kept }]);
    expect(await queue.purge({ userId: 'u1' })).toBe(Object.keys(STATES).length + 1);
    expect(await queue.list({})).toEqual([]);
  });

  const latest = fixtures[fixtures.length - 1]!.file;
  const newer = readFileSync(latest, 'utf8').replace(/user_version = \d+/, 'user_version = 1000');

  it.each([
    ['with tables', 'CREATE TABLE kept (id INTEGER)', 'a database of another application'],
    ['with its own versions', 'CREATE TABLE kept (id INTEGER); PRAGMA user_version = 3', 'of another application'],
    ['with one of the same names', 'CREATE TABLE delivery (id); PRAGMA user_version = 3', 'of another application'],
    ['with a mark of its own', 'PRAGMA application_id = 7', 'of another application'],
    ['with a version and no table', 'PRAGMA user_version = 1', 'of another application'],
    [
      'of a layout that was never released',
      'CREATE TABLE delivery (id); PRAGMA user_version = 2',
      'the file has layout 2, from before the first release',
    ],
    ['of a newer layout', newer, /the file has layout 1000, from a newer version .* reads layouts up to \d+: install/],
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
    const queue = await open(path);
    expect(await queue.list({})).toEqual([]);
  });
});
