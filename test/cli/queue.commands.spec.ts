import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { Logger } from '@nestjs/common';
import { type DeliveryOutcome, type DeliveryQueueFactory, type NewDelivery, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../support/shared-queue.js';
import { useCleanUps } from '../support/clean-ups.js';
import { runCommand } from '../support/command.js';
import { describeOnEach, postgresStore, redisStore } from '../support/services.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { openQueue } from '../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const ATTEMPTED_AT = 1_700_000_001_000;
const results = [{ url: 'https://shop.example/hook', outcome: 'permanent' as const, status: 410, duration: 12 }];
/** May contain personal data, so no command prints it. */
const answer = { type: 'text/plain', text: 'no hook for u1', bytes: 14 };
const dead: DeliveryOutcome = {
  state: 'dead',
  attempt: { startedAt: ATTEMPTED_AT, results: results.map((result) => ({ ...result, answer })) },
  reason: 'the receiver refused it',
  failedUrls: ['https://shop.example/hook'],
};

const message = (messageId: string, destination: string): NewDelivery => ({
  destination,
  source: 'shop',
  messageId,
  userId: 'u1',
  body: Buffer.from(JSON.stringify({ version: 1, type: 'track', event: 'Order Paid', properties: { card: '4111' } })),
  acceptedAt: 1_700_000_000_000,
});

/** Three dead deliveries of Webhooks, one of Other, and one that is queued there. */
async function fill(factory: DeliveryQueueFactory): Promise<void> {
  const queue = factory();
  await queue.open();
  for (const messageId of ['m1', 'm2', 'm3']) await queue.add([message(messageId, 'Webhooks')]);
  await queue.add([message('m4', 'Other')]);
  let settled = 0;
  for (const destination of ['Webhooks', 'Other']) {
    queue.consume(destination, 4).subscribe((lease) => void lease.settle(dead).then(() => settled++));
  }
  await waitFor(() => settled === 4);
  await queue.idle();
  await queue.close();
  await queue.open();
  await queue.add([message('m5', 'Other')]);
  await queue.close();
}

const parse = <T>(text: string) => JSON.parse(text) as T;
const idsOf = (stdout: string) => parse<{ id: string; messageId: string }[]>(stdout).map(({ id }) => id);

/** What the commands do with a queue, wherever it lies. */
async function itListsAndReplays(where: string[]): Promise<void> {
  const run = (...args: string[]) => runCommand(...args, ...where);
  const counts = async () =>
    parse<{ destination: string; state: string; count: number }[]>((await run('stats', '--json')).stdout)
      .map(({ destination, state, count }) => `${destination} ${state} ${count}`)
      .sort();

  const stats = await run('stats');
  expect(stats).toMatchObject({ code: 0, stderr: '' });
  expect(stats.stdout.split('\n')).toEqual([
    'destination  queued  waiting  delivering  delivered  dead',
    'Other             1        0           0          0     1',
    'Webhooks          0        0           0          0     3',
    '',
  ]);
  expect(await counts()).toEqual(['Other dead 1', 'Other queued 1', 'Webhooks dead 3']);

  const listed = await run('dead', '--destination', 'Webhooks', '--json');
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(parse(listed.stdout)).toEqual(
    ['m3', 'm2', 'm1'].map((messageId) => ({
      id: expect.any(String),
      destination: 'Webhooks',
      source: 'shop',
      messageId,
      type: 'track',
      event: 'Order Paid',
      reason: 'the receiver refused it',
      acceptedAt: '2023-11-14T22:13:20.000Z',
      lastAttemptAt: '2023-11-14T22:13:21.000Z',
      failedUrls: ['https://shop.example/hook'],
      attempts: [{ startedAt: '2023-11-14T22:13:21.000Z', results }],
    })),
  );
  const table = await run('dead');
  expect(table.stdout.split('\n')).toHaveLength(6);
  for (const cell of ['message id', 'm3', 'track "Order Paid"', '410', 'the receiver refused it', '22:13:21.000Z']) {
    expect(table.stdout).toMatch(cell);
  }
  expect(table.stdout).not.toMatch('4111');
  const limited = await run('dead', '--limit', '2', '--json');
  expect(idsOf(limited.stdout)).toHaveLength(2);
  expect(limited.stderr).toMatch('More dead deliveries exist; raise --limit (now 2)');

  expect((await run('replay', 'redis://u:s3cret@h')).stderr).toBe('No dead delivery has this id: redis://…@h\n');
  const [first] = idsOf(listed.stdout);
  expect(await run('replay', first!)).toMatchObject({ code: 0, stdout: '1 delivery replayed\n', stderr: '' });
  const again = await run('replay', first!, '424242');
  expect(again).toMatchObject({ code: 1, stdout: '0 deliveries replayed\n' });
  expect(again.stderr).toMatch(`No dead delivery has this id: ${first}, 424242`);
  expect((await run('replay', '--destination', 'Webhooks')).stdout).toBe('2 deliveries replayed\n');
  expect(await counts()).toEqual(['Other dead 1', 'Other queued 1', 'Webhooks queued 3']);
  expect((await run('replay', '--all')).stdout).toBe('1 delivery replayed\n');
  expect(await run('dead')).toEqual({ code: 0, stdout: 'No dead deliveries\n', stderr: '' });
  expect(idsOf((await run('dead', '--json')).stdout)).toEqual([]);
}

describe('dead, replay and stats', () => {
  const cleanUp = useCleanUps();

  async function createFolder() {
    const folder = await temporaryFolder(cleanUp);
    return folder;
  }

  it('list and replay what is in a SQLite file', async () => {
    const { path } = await createFolder();
    await fill(sqliteQueue({ path: path('relay.db') }));
    await itListsAndReplays(['--from', path('relay.db')]);
  });

  it('show no last attempt of a delivery that was never attempted', async () => {
    const { path } = await createFolder();
    const queue = await openQueue(cleanUp, sqliteQueue({ path: path('relay.db') }));
    await queue.add([message('m1', 'Webhooks')]);
    const removed: DeliveryOutcome = { state: 'dead', reason: 'destination removed', failedUrls: [] };
    const settled = new Promise<void>((resolve, reject) => {
      queue.consume('Webhooks', 1).subscribe((lease) => void lease.settle(removed).then(() => resolve(), reject));
    });
    await settled;
    await queue.close();
    const { stdout } = await runCommand('dead', '--from', path('relay.db'));
    expect(stdout).toMatch(/ 0 {2}not attempted {2}destination removed$/m);
  });

  it('print JSON that acts on no terminal and hides nothing, with the same values', async () => {
    const { path } = await createFolder();
    const hidden = 'a\u202eb\u009b31m\u007f\u2028\u200b\u{e0001}z';
    const queue = await openQueue(cleanUp, sqliteQueue({ path: path('relay.db') }));
    const body = Buffer.from(JSON.stringify({ type: 'track', event: hidden }));
    await queue.add([{ ...message(hidden, hidden), source: hidden, body }]);
    await new Promise<void>((resolve, reject) => {
      queue.consume(hidden, 1).subscribe((lease) => void lease.settle(dead).then(() => resolve(), reject));
    });
    await queue.close();
    const lists = [await runCommand('dead', '--json', '--from', path('relay.db'))];
    lists.push(await runCommand('stats', '--json', '--from', path('relay.db')));
    for (const { stdout } of lists) expect(stdout).toMatch(/^[ -~\n]*$/);
    expect(parse(lists[0]!.stdout)).toMatchObject([
      { destination: hidden, source: hidden, messageId: hidden, event: hidden },
    ]);
    expect(parse(lists[1]!.stdout)).toMatchObject([{ destination: hidden, count: 1 }]);
  });

  it('read a SQLite file as a start would find it, and leave it as it is', async () => {
    const folder = await createFolder();
    const path = folder.path('relay.db');
    await fill(sqliteQueue({ path }));
    const queue = sqliteQueue({ path })();
    await queue.open();
    await queue.add([message('m6', 'Webhooks')]);
    await queue.close();
    const before = readFileSync(path);
    expect((await runCommand('stats', '--from', path)).code).toBe(0);
    expect((await runCommand('dead', '--from', path)).code).toBe(0);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder.path('.'))).toEqual(['relay.db']);
  });

  it('refuse a file that an application has open, and change nothing', async () => {
    const { path } = await createFolder();
    await openQueue(cleanUp, sqliteQueue({ path: path('relay.db') }));
    for (const [advice, ...args] of [
      ['stop it, or run the command on a backup', 'dead'],
      ['stop it, or run the command on a backup', 'stats'],
      ['stop it first', 'replay', '--all'],
      ['stop it first', 'migrate', '--to', 'redis://127.0.0.1:1'],
    ] as [string, string, ...string[]][]) {
      const { code, stdout, stderr } = await runCommand(...args, '--from', path('relay.db'));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(`${args[0]}: the application has ${path('relay.db')} open; ${advice}\n`);
    }
  });

  it('remove no record that the application keeps longer than by default', async () => {
    const { path } = await createFolder();
    const retention = { messageIds: { age: Number.MAX_SAFE_INTEGER }, dead: { age: Number.MAX_SAFE_INTEGER } };
    const factory = sqliteQueue({ path: path('relay.db'), retention });
    await fill(factory);
    const { default: Database } = await import('libsql');
    const db = new Database(path('relay.db'));
    db.exec('UPDATE accepted SET accepted_at = 1; UPDATE delivery SET ended_at = 1 WHERE ended_at IS NOT NULL');
    db.close();
    expect(await runCommand('replay', '--destination', 'Other', '--from', path('relay.db'))).toMatchObject({
      code: 0,
      stdout: '1 delivery replayed\n',
    });
    const queue = await openQueue(cleanUp, factory);
    expect(await queue.list({ state: 'dead' })).toHaveLength(3);
    await queue.add([message('m1', 'Webhooks')]);
    expect(await queue.list({})).toHaveLength(5);
  });

  it('make no file', async () => {
    const { path } = await createFolder();
    for (const args of [['dead'], ['stats'], ['replay', '--all'], ['backup', '--out', path('copy.db')]]) {
      const { code, stderr } = await runCommand(...args, '--from', path('data/relay.db'));
      expect(code).toBe(1);
      expect(stderr).toMatch(`${path('data/relay.db')} does not exist; set --from to the SQLite file`);
    }
    expect(existsSync(path('data'))).toBe(false);
    expect(existsSync(path('copy.db'))).toBe(false);
  });
});

await describeOnEach([redisStore, postgresStore], (store) => {
  describe(`dead, replay and stats, on ${store.name}`, () => {
    const cleanUp = useCleanUps();

    it('list and replay what is in the queue', async () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      await fill(sharedQueue(options));
      await itListsAndReplays(['--store', store.url, '--prefix', options.prefix!]);
    });

    it('create no queue', async () => {
      const { options, remove } = store.create();
      cleanUp(remove);
      const where = ['--store', store.url, '--prefix', options.prefix!];
      for (const args of [['stats'], ['dead'], ['replay', '--all'], ['stats']]) {
        const { code, stderr } = await runCommand(...args, ...where);
        expect(code).toBe(1);
        expect(stderr).toMatch(`no queue with the prefix "${options.prefix}"; check prefix and URL`);
      }
    });
  });
});
