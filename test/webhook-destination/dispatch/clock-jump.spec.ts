import { type DeliveryQueueFactory, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { setClock } from '../../support/clock.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { describeOnEach, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const cleanUp = useCleanUps();
afterEach(() => {
  vi.restoreAllMocks();
});

/** Fewer than open the circuit with two failures each. */
const IDS = ['m0', 'm1', 'm2', 'm3'];

function itKillsNothing(create: () => Promise<DeliveryQueueFactory>): void {
  it('kills no delivery whose retry falls due in that moment', async () => {
    let isUp = false;
    const receiver = await ScriptedReceiver.start((...request) => status(isUp ? 200 : 503)(...request));
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      queue: await create(),
      delivery: { initialRetryDelay: 500, maxRetryDelay: 500 },
    });
    cleanUp(() => relay.stop());
    await relay.track(...IDS);
    await relay.settled('retry', IDS.length);
    setClock(5 * 3_600_000);
    await relay.settled('retry', 2 * IDS.length);
    vi.restoreAllMocks();
    isUp = true;
    await relay.settled('delivered', IDS.length);
    expect(relay.events.filter(({ type }) => type === 'dead')).toEqual([]);
  });
}

describe('A clock that jumps ahead by five hours for a moment, with the queue in memory,', () => {
  itKillsNothing(() => Promise.resolve(memoryQueue()));
});

describe('A clock that jumps ahead by five hours for a moment, with SQLite,', () => {
  itKillsNothing(async () => sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') }));
});

await describeOnEach([redisStore], ({ name, create }) => {
  describe(`A clock that jumps ahead by five hours for a moment, with ${name},`, () => {
    itKillsNothing(() => {
      const { options, remove } = create();
      cleanUp(remove);
      return Promise.resolve(sharedQueue(options));
    });
  });
});
