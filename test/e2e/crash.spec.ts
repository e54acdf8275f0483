import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { RelayProcess } from '../support/relay.process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('A relay that is killed', () => {
  const afterwards = useCleanUps();

  async function setUp() {
    const folder = await temporaryFolder();
    afterwards(folder.remove);
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
