import { randomBytes } from 'node:crypto';

import { Logger } from '@nestjs/common';
import { memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { openQueue } from '../../support/open-queue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const POSTED = 2_500;
const BATCHES = 40;
const LENGTH = 98;

/** Ids of two characters that differ in the highest bit alone, which a sum of products keeps least of. */
function crafted(): string[] {
  const random = randomBytes(POSTED * LENGTH);
  return Array.from({ length: POSTED }, (_, index) => {
    const codes = random.subarray(index * LENGTH, (index + 1) * LENGTH);
    return String.fromCharCode(...Uint16Array.from(codes, (code) => 0x40 | ((code & 0x80) << 8)));
  });
}

describe.each(['SQLite', 'memory'])('An embedded queue, %s,', (engine) => {
  const afterwards = useCleanUps();

  it('takes no id for another, however much alike they are made, and each for known once it is repeated', async () => {
    const folder = await temporaryFolder(afterwards);
    const factory = engine === 'memory' ? memoryQueue() : sqliteQueue({ path: folder.path('relay.db') });
    const queue = await openQueue(afterwards, factory);
    const batches = Array.from({ length: BATCHES }, () => crafted().map((messageId) => newDelivery(messageId)));
    const all = [{ destination: 'Webhooks', state: 'queued', count: BATCHES * POSTED }];
    for (const batch of batches) await queue.add(batch);
    expect(await queue.counts()).toEqual(all);
    for (const batch of batches) await queue.add(batch);
    expect(await queue.counts()).toEqual(all);
  });
});
