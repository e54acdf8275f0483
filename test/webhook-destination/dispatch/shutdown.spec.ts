import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { hang, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

describe('Shutdown', () => {
  const cleanUp = useCleanUps();

  it('finishes what is in flight and what is due', async () => {
    const receiver = await ScriptedReceiver.start((response) => void setTimeout(() => response.end(), 100));
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({ destinations: [{ urls: [receiver.url] }], delivery: { concurrency: 2 } });
    await relay.track('m1', 'm2', 'm3', 'm4');
    await waitFor(() => receiver.webhooks.length === 2);
    await relay.stop();
    expect(relay.events.map(({ type }) => type)).toEqual(['delivered', 'delivered', 'delivered', 'delivered']);
    expect(relay.log.matching(/queued/)).toEqual([]);
  });

  it('finishes the requests to the other URLs of what is delivered', async () => {
    const fast = await ScriptedReceiver.start(status(200));
    cleanUp(() => fast.stop());
    let answered = 0;
    const slow = await ScriptedReceiver.start((response) => {
      response.once('finish', () => answered++);
      setTimeout(() => response.end(), 300);
    });
    cleanUp(() => slow.stop());
    const relay = await Relay.start({ destinations: [{ urls: [fast.url, slow.url] }] });
    await relay.track('m1', 'm2');
    await relay.settled('delivered', 2);
    await waitFor(() => slow.webhooks.length === 2);
    await relay.stop();
    expect(answered).toBe(2);
  });

  it('waits five seconds for a hung receiver, releases the delivery, and sends it after a restart', async () => {
    const receiver = await ScriptedReceiver.start(sequence(hang, status(200)));
    cleanUp(() => receiver.stop());
    const folder = await temporaryFolder(cleanUp);
    const start = () =>
      Relay.start({
        destinations: [{ urls: [receiver.url] }],
        queue: sqliteQueue({ path: folder.path('relay.db') }),
        delivery: { timeout: 60_000 },
      });
    const first = await start();
    await first.track('m1');
    await waitFor(() => receiver.webhooks.length === 1);
    const begin = Date.now();
    await first.stop();
    const duration = Date.now() - begin;
    expect(duration).toBeGreaterThanOrEqual(4_900);
    expect(duration).toBeLessThan(6_000);
    expect(first.events).toEqual([]);
    expect(first.log.matching(/queued/)).toEqual([
      'warn Deliveries still queued: 1. They are sent after the next start, unless the queue is in memory',
    ]);
    await waitFor(() => receiver.active === 0);

    const second = await start();
    cleanUp(() => second.stop());
    expect(await second.settled('delivered')).toMatchObject([{ messageId: 'm1', attempt: 1 }]);
  });
});
