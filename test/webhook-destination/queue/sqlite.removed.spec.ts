import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { openQueue } from '../../support/open-queue.js';
import { post } from '../../support/post.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const MIB = 1024 * 1024;

const LOSS = 'the file was removed or replaced while it is open. New messages are refused.';

describe('A relay whose SQLite file was removed or replaced', () => {
  const cleanUp = useCleanUps();

  async function start() {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      queue: sqliteQueue({ path }),
      destinations: [{ urls: [receiver.url] }],
      registry: 'store',
      delivery: { initialRetryDelay: 300, maxRetryDelay: 300 },
    });
    cleanUp(() => relay.stop());
    await relay.app.listen(0, '127.0.0.1');
    const send = async (messageId: string) => {
      const host = await relay.app.getUrl();
      const answer = await post(`${host}/v1/track`, { event: 'Ordered', userId: 'u1', messageId });
      return { status: answer.status, body: await answer.text() };
    };
    const received = () => receiver.webhooks.map(({ headers }) => headers['x-message-id']);
    return { path, relay, receiver, send, received };
  }

  it.each([
    ['removed', (path: string) => rmSync(path)],
    ['replaced', (path: string) => (writeFileSync(`${path}.new`, ''), renameSync(`${path}.new`, path))],
    ['left without its log', (path: string) => rmSync(`${path}-wal`)],
  ])('refuses new messages with 503 once it is %s, and promises no delivery at its end', async (_how, remove) => {
    const { path, relay, receiver, send, received } = await start();
    expect((await send('before')).status).toBe(200);
    await waitFor(() => received().length === 1);
    receiver.statuses = [503];
    expect((await send('waiting')).status).toBe(200);
    await waitFor(() => received().length === 2);
    remove(path);
    for (const id of ['m1', 'm2']) {
      const { status, body } = await send(id);
      expect(status).toBe(503);
      expect(body).toContain('"code":"queue_unavailable"');
    }
    await expect(relay.service.sources.create({ name: 'late', writeKey: 'wk_late' })).rejects.toThrow(LOSS);
    expect(relay.log.matching(/was removed or replaced/).filter((line) => line.includes(path))).toContain(
      `error SQLite queue ${path}: ${LOSS} Messages accepted before are delivered until the application ends, and the ` +
        'rest is then lost. Move the file and its -wal back, or start the application again',
    );
    expect(relay.log.matching(/^error SQLite queue/)).toHaveLength(1);
    expect(received()).not.toContain('m1');
    await relay.stop();
    expect(relay.log.matching(/still queued/)).toEqual([
      expect.stringMatching(
        /^error Deliveries still queued: 1\. They may be lost: SQLite queue .* removed or replaced/,
      ),
    ]);
  });

  it('delivers what it accepted before, and accepts messages again once the file is back', async () => {
    const { path, relay, receiver, send, received } = await start();
    receiver.statuses = [503];
    await send('m1');
    await waitFor(() => received().length === 1);
    renameSync(path, `${path}.away`);
    expect((await send('m2')).status).toBe(503);
    receiver.statuses = [200];
    await waitFor(async () => (await relay.service.deliveries({ state: 'delivered' })).length === 1);
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.away`, path);
    expect((await send('m2')).status).toBe(200);
    await waitFor(() => received().includes('m2'));
    expect(relay.log.matching(/the file is back/)).toHaveLength(1);
  });

  it('does not acknowledge what it writes while the file is removed', async () => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    await queue.add([newDelivery('m1')]);
    const body = Buffer.from(randomBytes(32 * MIB).toString('base64')); // compression saves little
    const added = expect(queue.add([{ ...newDelivery('m2'), body }])).rejects.toThrow(LOSS);
    while (statSync(`${path}-wal`).size < 2 * MIB) await setImmediate();
    rmSync(path);
    await added;
  });

  it('does not take an empty file for its own when its thread is started again', async () => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const queue = await openQueue(cleanUp, sqliteQueue({ path }));
    await queue.add([newDelivery('m1')]);
    const { store } = queue as unknown as { store: { thread: { worker: { terminate: () => Promise<number> } } } };
    rmSync(path);
    await store.thread.worker.terminate();
    await waitFor(() =>
      queue.add([newDelivery('m2')]).then(
        () => false,
        (error: Error) => /removed or replaced/.test(error.message),
      ),
    );
    expect(existsSync(path)).toBe(false);
  });
});
