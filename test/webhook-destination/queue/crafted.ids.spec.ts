import { randomBytes } from 'node:crypto';

import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type DeliveryQueue, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openQueue } from '../../support/open-queue.js';

jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const POSTED = 2_500;
const KNOWN = 150_000;
const ROUNDS = 15;
const LENGTH = 98;

/** Ids of two characters that differ in the highest bit alone, which a sum of products keeps least of. */
const crafted = () => create(0);

/** Ids of the same size, whose characters differ in others too. */
const ordinary = () => create(0xf);

function create(others: number): string[] {
  const random = randomBytes(POSTED * LENGTH);
  return Array.from({ length: POSTED }, (_, index) => {
    const codes = random.subarray(index * LENGTH, (index + 1) * LENGTH);
    return String.fromCharCode(...Uint16Array.from(codes, (code) => 0x40 | (code & others) | ((code & 0x80) << 8)));
  });
}

describe.each(['SQLite', 'memory'])('An embedded queue, %s,', (engine) => {
  const afterwards = useCleanUps();

  async function start(): Promise<DeliveryQueue> {
    const folder = await temporaryFolder(afterwards);
    return openQueue(afterwards, engine === 'memory' ? memoryQueue() : sqliteQueue({ path: folder.path('relay.db') }));
  }

  const add = async (queue: DeliveryQueue, messageIds: string[]) => {
    const deliveries = messageIds.map((messageId) => newDelivery(messageId));
    const startedAt = performance.now();
    await queue.add(deliveries);
    return performance.now() - startedAt;
  };

  it('takes new ids at one cost, whichever came before, and repeated ones at no greater', async () => {
    const [afterOrdinary, afterCrafted] = [await start(), await start()];
    const known: string[] = [];
    for (let count = 0; count < KNOWN; count += POSTED) {
      const ids = ordinary();
      known.push(...ids);
      await add(afterOrdinary, ids);
      await add(afterCrafted, crafted());
    }
    const spread = known.filter((_, index) => index % (KNOWN / POSTED) === 0);
    // The shortest times, in turns: other work of the machine adds to most of them.
    const times = { ordinary: Infinity, crafted: Infinity, repeated: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      times.ordinary = Math.min(times.ordinary, await add(afterOrdinary, ordinary()));
      times.crafted = Math.min(times.crafted, await add(afterCrafted, crafted()));
      times.repeated = Math.min(times.repeated, await add(afterOrdinary, spread));
    }
    expect(times.crafted).toBeLessThan(1.5 * times.ordinary);
    expect(times.repeated).toBeLessThan(1.5 * times.ordinary);
  }, 120_000);
});
