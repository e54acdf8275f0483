import Database from 'libsql';
import { type DeliveryOutcome, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { openQueue } from '../../support/open-queue.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const UNREADABLE = 'the stored delivery cannot be read';
const waits = (): DeliveryOutcome => ({
  state: 'waiting',
  attempt: { startedAt: Date.now(), results: [] },
  nextAttemptAt: Date.now(),
  failedUrls: [],
});

describe('A damaged row of the SQLite file', () => {
  const cleanUp = useCleanUps();

  /** A closed file: batches `a`, `b` and `c`; with `attempted`, each delivery has a row of its own. */
  async function createFile(attempted: boolean): Promise<string> {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = sqliteQueue({ path })();
    await queue.open();
    const acceptedAt = Date.now();
    for (const id of ['a', 'b', 'c']) {
      await queue.add([`${id}1`, `${id}2`].map((messageId) => ({ ...newDelivery(messageId), acceptedAt })));
    }
    if (attempted) {
      let settled = 0;
      const subscription = queue.consume('Webhooks', 6).subscribe(({ settle }) => {
        if (settled < 6) void settle(waits()).then(() => settled++);
      });
      await waitFor(() => settled === 6);
      subscription.unsubscribe();
    }
    await queue.close();
    return path;
  }

  function damage(path: string, sql: string): void {
    const db = new Database(path);
    db.exec(sql);
    db.close();
  }

  async function start(path: string) {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      queue: sqliteQueue({ path }),
      destinations: [{ name: 'Webhooks', urls: [receiver.url] }],
    });
    cleanUp(() => relay.stop());
    const received = () => receiver.webhooks.map(({ headers }) => headers['x-message-id'] as string).sort();
    return { relay, received };
  }

  const ROWS = 'id >= 2 * 4096 AND id < 3 * 4096';
  it.each([
    ['items that are no JSON', false, `UPDATE batch SET items = '[["b1"' WHERE id = 2`, ['', '']],
    ['items of another shape', false, `UPDATE batch SET items = '{}' WHERE id = 2`, ['', '']],
    ['ids of another type', false, `UPDATE batch SET items = '[[1,2],[null,null],[2,2]]' WHERE id = 2`, ['', '']],
    ['bytes that are no text', false, `UPDATE batch SET items = CAST(x'5bff' AS TEXT) WHERE id = 2`, ['', '']],
    ['bodies that do not decompress', false, `UPDATE batch SET bodies = x'0102' WHERE id = 2`, ['b1', 'b2']],
    ['no bodies', false, `UPDATE batch SET bodies = x'' WHERE id = 2`, ['b1', 'b2']],
    ['a missing batch', true, 'DELETE FROM batch WHERE id = 2', ['b1', 'b2']],
    ['damaged bodies of deliveries with attempts', true, `UPDATE batch SET bodies = x'00' WHERE id = 2`, ['b1', 'b2']],
    ['attempts that are no JSON', true, `UPDATE delivery SET attempts = '[{' WHERE ${ROWS}`, ['b1', 'b2']],
    ['attempts of another type', true, `UPDATE delivery SET attempts = '[7]' WHERE ${ROWS}`, ['b1', 'b2']],
    ['URLs of another type', true, `UPDATE delivery SET failed_urls = '{}' WHERE ${ROWS}`, ['b1', 'b2']],
    ['an id that is no text', true, `UPDATE delivery SET message_id = CAST(x'ff' AS TEXT) WHERE ${ROWS}`, ['', '']],
    ['outcomes that are no JSON', true, `UPDATE outcome SET entries = '[' WHERE batch = 2`, []],
  ])('with %s is set aside, and all others are delivered', async (_what, attempted, sql, messageIds) => {
    const path = await createFile(attempted);
    damage(path, sql);
    const { relay, received } = await start(path);
    const others = ['a1', 'a2', 'c1', 'c2', ...(messageIds.length === 0 ? ['b1', 'b2'] : [])];
    await waitFor(() => received().length >= others.length);
    expect(received()).toEqual(others.sort());
    const dead = await relay.service.deliveries({ state: 'dead' });
    expect(dead.map(({ messageId, reason }) => [messageId, reason]).sort()).toEqual(
      messageIds.map((messageId) => [messageId, UNREADABLE]),
    );
    expect(relay.log.matching(/cannot be read/).length).toBeGreaterThanOrEqual(Math.min(messageIds.length, 1));
    for (const line of relay.log.matching(/cannot be read/)) {
      expect(line).toMatch(
        /error SQLite queue .*: deliver(y|ies) \d+( to \d+)? of destination "Webhooks" cannot be read/,
      );
    }
    expect(await relay.service.replay({ state: 'dead' })).toBe(0);
    expect(await relay.service.purge({ reason: UNREADABLE })).toBe(messageIds.length);
    expect(await relay.service.deliveries({ state: 'dead' })).toEqual([]);
  });

  it('degrades health while its deliveries are kept, and is named once', async () => {
    const path = await createFile(false);
    damage(path, `UPDATE batch SET items = '[' WHERE id = 2`);
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    expect(await queue.check()).toMatchObject({ unreadable: 0 });
    // A listing meets it first: nothing of it fails.
    expect((await queue.list({})).map(({ messageId }) => messageId)).toEqual(['c2', 'c1', '', '', 'a2', 'a1']);
    expect(await queue.check()).toMatchObject({ unreadable: 2 });
    expect(await queue.counts()).toContainEqual({ destination: 'Webhooks', state: 'dead', count: 2 });
    const [first] = await queue.list({ reason: UNREADABLE });
    expect(await queue.purge({ id: first!.id })).toBe(1);
    expect(await queue.check()).toMatchObject({ unreadable: 1 });
  });

  it('of message ids does not stop the start', async () => {
    const path = await createFile(false);
    damage(path, `UPDATE accepted SET batches = '[[' WHERE last_batch = (SELECT min(last_batch) FROM accepted)`);
    const { relay, received } = await start(path);
    await waitFor(() => received().length === 6);
    expect(relay.log.matching(/lists of message ids cannot be read/)).toHaveLength(1);
  });
});
