import { readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { RelayProcess } from '../support/relay.process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';

describe('A relay that is killed', () => {
  const afterwards = useCleanUps();

  async function setUp() {
    const folder = await temporaryFolder(afterwards);
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const start = async () => {
      const relay = await RelayProcess.start({
        database: folder.path('relay.db'),
        urls: [receiver.url],
        delivery: { initialRetryDelay: 200 },
      });
      afterwards(() => relay.kill());
      return relay;
    };
    return { receiver, start };
  }

  it('delivers after its restart what it had accepted', async () => {
    const { receiver, start } = await setUp();
    receiver.statuses = [503];
    const relay = await start();
    const batch = Array.from({ length: 20 }, (_, index) => ({
      type: 'track',
      messageId: `m${index}`,
      userId: 'u1',
      event: 'Order Completed',
    }));
    const answer = await post(`${relay.host}/v1/batch`, { batch });
    expect(answer.status).toBe(200);
    await receiver.received(1);
    await relay.kill();
    expect(receiver.webhooks.map(({ status }) => status)).not.toContain(200);

    receiver.statuses = [200];
    await start();
    const taken = await receiver.taken(20);
    expect(new Set(taken)).toEqual(new Set(batch.map(({ messageId }) => messageId)));
  });

  it('ends with exit code 0 on SIGTERM, and delivers first what it had accepted', async () => {
    const { receiver, start } = await setUp();
    const relay = await start();
    await post(`${relay.host}/v1/track`, { messageId: 'm1', userId: 'u1', event: 'Order Completed' });
    expect(await relay.end('SIGTERM')).toBe(0);
    expect(await receiver.taken(1)).toEqual(['m1']);
  });
});

describe('An application that records and forwards', () => {
  const afterwards = useCleanUps();

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'loses no event that was recorded more than 100 ms before a %s, without shutdown hooks',
    async (signal) => {
      const folder = await temporaryFolder(afterwards);
      const receiver = await Receiver.start();
      afterwards(() => receiver.stop());
      const notes = folder.path('notes');
      const options = { database: folder.path('relay.db'), urls: [receiver.url] };
      writeFileSync(notes, '');
      const recorded = () =>
        readFileSync(notes, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => line.split(' ') as [messageId: string, recordedAt: string]);

      for (let kill = 1; kill <= 3; kill++) {
        const shop = await RelayProcess.start({ ...options, notes }, 'shop');
        afterwards(() => shop.kill());
        const before = recorded().length;
        await waitFor(() => recorded().length >= before + 100);
        const killedAt = Date.now();
        await shop.end(signal);

        const due = recorded()
          .slice(before)
          .filter(([, recordedAt]) => Number(recordedAt) < killedAt - 100);
        const restarted = await RelayProcess.start(options, 'shop');
        afterwards(() => restarted.kill());
        const lost = () => {
          const taken = new Set(receiver.webhooks.map(({ headers }) => headers['x-message-id']));
          return due.filter(([messageId]) => !taken.has(messageId));
        };
        await waitFor(
          () => lost().length === 0,
          () =>
            `what was recorded ${JSON.stringify(lost().map(([, recordedAt]) => killedAt - Number(recordedAt)))} ms before`,
        );
        await restarted.kill();
      }
    },
  );
});
