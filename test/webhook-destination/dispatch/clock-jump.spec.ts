import { type DeliveryQueueFactory, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { setClock } from '../../support/clock.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { describeOnEach, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const cleanUp = useCleanUps();
afterEach(() => {
  vi.restoreAllMocks();
});

function itKillsNothing(create: () => Promise<DeliveryQueueFactory>): void {
  // Four open no circuit with two failures each; sixteen open it, and then only its probe is sent.
  it.each([
    [4, 8],
    [16, 17],
  ])('kills none of %d deliveries whose retries fall due in that moment', async (count, failures) => {
    let isUp = false;
    const receiver = await ScriptedReceiver.start((...request) => status(isUp ? 200 : 503)(...request));
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      queue: await create(),
      delivery: { initialRetryDelay: 500, maxRetryDelay: 500 },
    });
    cleanUp(() => relay.stop());
    await relay.track(...Array.from({ length: count }, (_, index) => `m${index}`));
    await relay.settled('retry', count);
    setClock(5 * 3_600_000);
    await waitFor(() => relay.events.length >= failures);
    vi.restoreAllMocks();
    isUp = true;
    const ended = () => relay.events.flatMap(({ type }) => (type === 'retry' ? [] : type));
    await waitFor(() => ended().length === count);
    expect(ended()).toEqual(Array(count).fill('delivered'));
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
