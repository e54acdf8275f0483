import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ServerResponse } from 'node:http';
import type { Worker } from 'node:worker_threads';

import { Logger } from '@nestjs/common';
import { type DeliveryOutcome, type Lease, sqliteQueue } from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery as message } from '../../support/new-delivery.js';
import { post } from '../../support/post.js';
import { ScriptedReceiver } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });
const names = (count: number, prefix = 'm') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: { startedAt: 1, results: [] } });

describe('A relay whose SQLite thread has ended', () => {
  const afterwards = useCleanUps();

  /** An application of its own, whose queue lies in a folder that can be taken away. */
  async function start(url: string) {
    const folder = await temporaryFolder(afterwards);
    const data = folder.path('data');
    const argument = JSON.stringify({ path: `${data}/relay.db`, url });
    const child: ChildProcess = fork('test/apps/sqlite-thread.app.mjs', [argument], { stdio: 'pipe' });
    afterwards(() => child.kill('SIGKILL'));
    const lines: string[] = [];
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    const [{ host }] = (await once(child, 'message')) as [{ host: string }];
    const endThread = async () => {
      const ended = once(child, 'message');
      child.send('end');
      await ended;
    };
    const takeAway = () => {
      renameSync(data, `${data}-away`);
      writeFileSync(data, '');
    };
    const putBack = () => {
      rmSync(data);
      renameSync(`${data}-away`, data);
    };
    return { child, host, lines, endThread, takeAway, putBack };
  }

  /** A receiver that answers once it is told to. */
  async function createReceiver() {
    const waiting: ServerResponse[] = [];
    let isHeld = false;
    const receiver = await ScriptedReceiver.start((response) => {
      if (isHeld) waiting.push(response);
      else response.end();
    });
    afterwards(() => receiver.stop());
    return {
      url: receiver.url,
      ids: () => receiver.webhooks.map(({ headers }) => headers['x-message-id'] as string),
      waiting,
      hold: () => (isHeld = true),
      release: () => {
        isHeld = false;
        for (const response of waiting.splice(0)) response.end();
      },
    };
  }

  it('answers 503 until it is open again, loses nothing, and repeats nothing', async () => {
    const receiver = await createReceiver();
    const { child, host, lines, endThread, takeAway, putBack } = await start(receiver.url);
    const send = async (ids: string[]) => post(`${host}/v1/batch`, { batch: ids.map(track) });

    expect((await send(names(10, 'before'))).status).toBe(200);
    await waitFor(() => receiver.ids().length === 10);
    receiver.hold();
    expect((await send(names(100, 'held'))).status).toBe(200);
    await waitFor(() => receiver.waiting.length === 4);
    takeAway();
    await endThread();
    for (let time = 0; time < 3; time++) {
      const answer = await send(['refused']);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await answer.json()).toMatchObject({ code: 'queue_unavailable' });
    }
    receiver.release(); // these outcomes wait in memory, and attempts go on meanwhile
    await waitFor(() => receiver.ids().length > 14);
    await waitFor(() => lines.some((line) => line.includes('; trying again')));
    putBack();
    await waitFor(async () => (await send(['refused', 'after'])).status === 200);

    const all = [...names(10, 'before'), ...names(100, 'held'), 'refused', 'after'];
    await waitFor(() => receiver.ids().length >= all.length);
    child.kill('SIGTERM'); // it delivers what is due before it ends
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(receiver.ids().sort()).toEqual([...all].sort());
    const ofQueue = lines.filter((line) => line.includes('[SqliteQueue]'));
    expect(ofQueue.join('\n')).toMatch(
      /opening it again[^]* (is not a folder|was removed or replaced).*; trying again[^]*it is open again/,
    );
    expect(ofQueue).toHaveLength(4);
  });

  it('goes on under load, as often as it ends', async () => {
    const receiver = await createReceiver();
    const { child, host, endThread } = await start(receiver.url);
    const statuses = new Set<number>();
    let isOver = false;
    let count = 0;
    const load = async (prefix: string) => {
      const ids: string[] = [];
      while (!isOver) {
        const batch = names(5, `${prefix}-${count++}-`);
        for (;;) {
          const { status } = await post(`${host}/v1/batch`, { batch: batch.map(track) });
          statuses.add(status);
          if (status === 200) break;
        }
        ids.push(...batch);
      }
      return ids;
    };
    const loads = names(3).map(load);
    for (let time = 0; time < 3; time++) {
      const sent = receiver.ids().length;
      await waitFor(() => receiver.ids().length > sent + 50);
      await endThread();
    }
    const sent = receiver.ids().length;
    await waitFor(() => receiver.ids().length > sent + 50);
    isOver = true;
    const taken = (await Promise.all(loads)).flat();
    await waitFor(() => new Set(receiver.ids()).size >= taken.length);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(receiver.ids().sort()).toEqual(taken.sort());
    expect([...statuses].sort()).toEqual([200, 503]);
  });
});

describe('A SQLite queue whose thread has ended', () => {
  const afterwards = useCleanUps();
  beforeEach(() => {
    Logger.overrideLogger(false);
  });

  async function start() {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    const queue = await openQueue(afterwards, sqliteQueue({ path }));
    const { thread } = (queue as unknown as { store: { thread: { worker: Worker } } }).store;
    const endThread = async () => {
      const { worker } = thread;
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      worker.postMessage(null); // a list of calls is expected
      await ended;
    };
    const opensAgain = () =>
      waitFor(() =>
        queue.counts().then(
          () => true,
          () => false,
        ),
      );
    return { path, queue, endThread, opensAgain };
  }

  it('says so, and closes while it waits to be opened again', async () => {
    const { path, queue, endThread } = await start();
    await queue.add([message('m')]);
    await endThread();
    await expect(queue.add([message('refused')])).rejects.toThrow(`SQLite queue ${path}: its thread has ended`);
    await expect(queue.list({})).rejects.toThrow(`SQLite queue ${path}: its thread has ended`);
    await expect(queue.list({})).rejects.toMatchObject({ code: 'queue_unavailable' });
    await queue.close();
    const again = await openQueue(afterwards, sqliteQueue({ path }));
    expect((await again.list({})).map(({ messageId }) => messageId)).toEqual(['m']);
  });

  it('keeps what the registry was given', async () => {
    const { queue, endThread, opensAgain } = await start();
    const records: unknown[] = [];
    for (const name of names(20)) {
      const record = { kind: 'destination', name, document: '{}' } as const;
      records.push({ ...record, revision: await queue.registry.write(record, 0) });
      if (name !== 'm9' && name !== 'm19') continue;
      await endThread();
      await expect(queue.registry.write({ ...record, name: 'refused' }, 0)).rejects.toThrow('its thread has ended');
      await opensAgain();
    }
    expect(await queue.registry.read(0)).toEqual(records);
  });

  it('keeps its leases: none is given twice, and each can be settled', async () => {
    const { queue, endThread, opensAgain } = await start();
    const leases: Lease[] = [];
    const consumer = queue.consume('Webhooks', 2).subscribe((lease) => leases.push(lease));
    afterwards(() => consumer.unsubscribe());
    for (const messageId of names(5)) await queue.add([message(messageId)]);
    await queue.add(names(5, 'together').map(message));
    await waitFor(() => leases.length === 2);
    await leases[0]!.settle({ state: 'waiting', nextAttemptAt: Date.now(), failedUrls: [] });
    const early = leases[1]!.settle(delivered());
    await endThread();
    const late = leases[2]!.settle(delivered());
    await opensAgain();
    expect(await Promise.all([early, late])).toEqual([true, true]);
    for (let index = 3; index < 11; index++) {
      await waitFor(() => leases.length > index);
      expect(await leases[index]!.settle(delivered())).toBe(true);
      if (index === 6) {
        await endThread();
        await opensAgain();
      }
    }
    await queue.idle();
    expect(leases).toHaveLength(11);
    expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'delivered', count: 10 }]);
  });

  it('makes due again what nobody was given, as the answer was lost', async () => {
    const { queue, endThread } = await start();
    await queue.add(names(3).map(message));
    const taken: string[] = [];
    const { thread } = (queue as unknown as { store: { thread: { worker: Worker } } }).store;
    // The first claim is carried out, and its answer does not arrive.
    const [onMessage] = thread.worker.listeners('message') as ((answers: unknown) => void)[];
    thread.worker.off('message', onMessage!);
    const answered = once(thread.worker, 'message');
    const consumer = queue.consume('Webhooks', 8).subscribe((lease) => {
      taken.push(lease.delivery.messageId);
      void lease.settle(delivered());
    });
    afterwards(() => consumer.unsubscribe());
    await answered;
    await endThread();
    await waitFor(() => taken.length === 3);
    await queue.idle();
    expect(taken).toEqual(names(3));
  });
});
