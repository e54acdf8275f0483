import { type DeliveryQueueFactory, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

describe('A destination without messages', () => {
  const cleanUp = useCleanUps();

  /** A queue that notes which destinations are consumed. */
  function noting(create: DeliveryQueueFactory): { queue: DeliveryQueueFactory; consumed: string[] } {
    const consumed: string[] = [];
    const queue = (): ReturnType<DeliveryQueueFactory> => {
      const made = create();
      const consume = made.consume.bind(made);
      made.consume = (destination, ...rest) => {
        consumed.push(destination);
        return consume(destination, ...rest);
      };
      return made;
    };
    return { queue, consumed };
  }

  it.each(['memory', 'SQLite'])('is not consumed (%s)', async (engine) => {
    const folder = await temporaryFolder(cleanUp);
    const receiver = await ScriptedReceiver.start(sequence(status(503), status(200)));
    cleanUp(() => receiver.stop());
    const create = engine === 'memory' ? memoryQueue() : sqliteQueue({ path: folder.path('relay.db') });
    const destinations = ['A', 'B', 'C'].map((name) => ({ name, urls: [receiver.url], sources: [name] }));
    const sources = ['A', 'B', 'C'].map((name) => ({ name, writeKey: `wk_${name}` }));
    const start = async () => {
      const { queue, consumed } = noting(create);
      const relay = await Relay.start({ destinations, sources, queue, delivery: { initialRetryDelay: 600_000 } });
      cleanUp(() => relay.app.close());
      return { relay, consumed };
    };
    const message = (messageId: string) => [{ type: 'track', event: 'Ordered', userId: 'u1', messageId }];

    const first = await start();
    expect(first.consumed).toEqual([]);
    await first.relay.service.accept('wk_B', message('m1'));
    await first.relay.settled('retry');
    await first.relay.service.accept('wk_B', message('m2'));
    await first.relay.settled('delivered');
    expect(first.consumed).toEqual(['B']);
    await first.relay.app.close();
    if (engine === 'memory') return;

    // What waits for its next attempt is known again after a start.
    const second = await start();
    expect(second.consumed).toEqual(['B']);
    await second.relay.service.accept('wk_C', message('m3'));
    await second.relay.settled('delivered');
    expect(second.consumed).toEqual(['B', 'C']);
  });

  it('has no dead deliveries to look for at its first one', async () => {
    const receiver = await ScriptedReceiver.start(status(200));
    cleanUp(() => receiver.stop());
    let searched = 0;
    const queue = (): ReturnType<DeliveryQueueFactory> => {
      const made = memoryQueue()();
      const replay = made.replay.bind(made);
      made.replay = (query) => {
        searched++;
        return replay(query);
      };
      return made;
    };
    const names = Array.from({ length: 101 }, (_, index) => `D${index}`);
    const relay = await Relay.start({ destinations: names.map((name) => ({ name, urls: [receiver.url] })), queue });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    await relay.settled('delivered', 101);
    expect(searched).toBe(0);
  });

  it('is consumed once a dead delivery of it is sent again', async () => {
    const folder = await temporaryFolder(cleanUp);
    const receiver = await ScriptedReceiver.start(sequence(status(404), status(200)));
    cleanUp(() => receiver.stop());
    const { queue, consumed } = noting(sqliteQueue({ path: folder.path('relay.db') }));
    const start = () => Relay.start({ destinations: [{ urls: [receiver.url] }], queue });
    const first = await start();
    await first.track('m1');
    await first.settled('dead');
    await first.app.close();

    consumed.length = 0;
    const second = await start();
    cleanUp(() => second.app.close());
    expect(consumed).toEqual([]);
    expect(await second.service.replay({ state: 'dead' })).toBe(1);
    await second.settled('delivered');
    await waitFor(() => receiver.webhooks.length === 2);
  });
});
