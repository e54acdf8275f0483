import { setTimeout as sleep } from 'node:timers/promises';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { openQueue } from '../../support/open-queue.js';
import { post } from '../../support/post.js';
import { RelayProcess } from '../../support/relay.process.js';
import { hang, type Script, ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const COUNT = 1_000;
const BATCH = 250;
const WINDOW = 1_000;

const cleanUp = useCleanUps();

describe('A relay that was killed, and was down for longer than the retry window,', () => {
  /** Accepts messages for a receiver that hangs, kills the relay, and starts it again after the window. */
  async function restart(script: Script) {
    let isHanging = true;
    const receiver = await ScriptedReceiver.start((...request) => (isHanging ? hang : script)(...request));
    cleanUp(() => receiver.stop());
    const folder = await temporaryFolder(cleanUp);
    const database = folder.path('relay.db');
    const delivery = { retryWindow: WINDOW, initialRetryDelay: 50, maxRetryDelay: 100 };
    const start = async () => {
      const relay = await RelayProcess.start({ database, urls: [receiver.url], delivery });
      cleanUp(() => relay.kill());
      return relay;
    };
    const first = await start();
    for (let from = 0; from < COUNT; from += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, index) => ({
        type: 'track',
        userId: 'u1',
        event: 'Ordered',
        messageId: `m${from + index}`,
      }));
      expect((await post(`${first.host}/v1/batch`, { batch })).status).toBe(200);
    }
    await waitFor(() => receiver.active === 64);
    await first.kill();
    await sleep(WINDOW);
    const before = receiver.webhooks.length;
    isHanging = false;
    const second = await start();
    const tried = () =>
      new Set(receiver.webhooks.slice(before).map(({ headers }) => headers['x-message-id'] as string)).size;
    await waitFor(
      () => tried() === COUNT,
      () => `requests for ${COUNT} messages, got ${tried()}`,
    );
    return { second, open: () => openQueue(cleanUp, sqliteQueue({ path: database })) };
  }

  it('delivers what it had acknowledged', async () => {
    const { second, open } = await restart(status(200));
    await second.end();
    expect(await (await open()).counts()).toEqual([{ destination: 'Webhooks', state: 'delivered', count: COUNT }]);
  });

  it('tries each message to a receiver that is still down, before it is dead', async () => {
    const { second, open } = await restart(status(503));
    await second.kill();
    const queue = await open();
    const dead = await queue.list({ state: 'dead' }, { limit: COUNT });
    expect(dead.length).toBeGreaterThan(COUNT / 2);
    expect(dead.filter(({ attempts }) => attempts.length === 0)).toEqual([]);
  });
});
