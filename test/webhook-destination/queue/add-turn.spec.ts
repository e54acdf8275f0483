import { createRequire } from 'node:module';

import { Logger } from '@nestjs/common';
import type Database from 'libsql';
import { type DeliveryQueue, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const SqliteFile = createRequire(import.meta.url)('libsql') as typeof Database;
const acceptedAt = Date.now();
const message = (messageId: string) => ({ ...newDelivery(messageId), acceptedAt });

describe.each(['SQLite', 'memory'])('What is added to a queue in one turn of the event loop, %s,', (engine) => {
  const afterwards = useCleanUps();

  async function start(): Promise<{ queue: DeliveryQueue; path: string }> {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    const queue = await openQueue(afterwards, engine === 'memory' ? memoryQueue() : sqliteQueue({ path }));
    return { queue, path };
  }

  const idsOf = async (queue: DeliveryQueue) => (await queue.list({})).map(({ messageId }) => messageId).reverse();

  it('is stored in its order, each message once, whichever call repeats it', async () => {
    const { queue } = await start();
    const added = ['a', 'b', 'a', 'c'].map((id) => queue.add([message(id)]));
    await Promise.all([...added, queue.add([message('d'), message('b'), message('e')])]);
    expect(await idsOf(queue)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('goes to its consumer in its order', async () => {
    const { queue } = await start();
    const taken: string[] = [];
    const subscription = queue.consume('Webhooks', 8).subscribe(({ delivery }) => taken.push(delivery.messageId));
    afterwards(() => subscription.unsubscribe());
    await Promise.all(['a', 'b', 'c'].map((id) => queue.add([message(id)])));
    await waitFor(() => taken.length === 3);
    expect(taken).toEqual(['a', 'b', 'c']);
  });

  it('is stored even if the queue closes in that turn', async () => {
    const { queue } = await start();
    const added = Promise.all([queue.add([message('a')]), queue.add([message('b')])]);
    await queue.close();
    await added;
    await queue.open();
    expect(await idsOf(queue)).toEqual(['a', 'b']);
  });

  if (engine === 'memory') return;

  it.each([
    ['one row', 20, [20]],
    ['a row for each 75 deliveries: the thread need not wait for the end of a long turn', 170, [75, 75, 20]],
  ])('becomes %s', async (_, count, sizes) => {
    const { queue, path } = await start();
    await Promise.all(Array.from({ length: count }, (_, index) => queue.add([message(`m${index}`)])));
    await queue.close();
    const db = new SqliteFile(path);
    expect(db.prepare('SELECT size FROM batch ORDER BY id').all()).toEqual(sizes.map((size) => ({ size })));
    db.close();
  });

  it('rejects each call when it cannot be stored', async () => {
    const { queue } = await start();
    await queue.close();
    const added = await Promise.allSettled(['a', 'b'].map((id) => queue.add([message(id)])));
    expect(added).toMatchObject([{ reason: { code: 'closed' } }, { reason: { code: 'closed' } }]);
    await queue.open();
    expect(await idsOf(queue)).toEqual([]);
  });
});
