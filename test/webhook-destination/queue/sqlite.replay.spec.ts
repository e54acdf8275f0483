import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

/** Dead deliveries of two destinations, more than one call makes due. */
const DEAD = 2_500;

describe('A replay of many deliveries from the SQLite file', () => {
  const cleanUp = useCleanUps();

  it('replays each once, and holds up no other call until its end', async () => {
    const folder = await temporaryFolder(cleanUp);
    const queue = await openQueue(cleanUp, sqliteQueue({ path: folder.path('relay.db') }));
    const ids = Array.from({ length: DEAD }, (_, index) => `m${index}`);
    await queue.add(ids.map((id, index) => ({ ...newDelivery(id), destination: index % 2 ? 'A' : 'B' })));
    const sent = new Map<string, number>();
    for (const destination of ['A', 'B']) {
      queue.consume(destination, 64).subscribe(({ delivery, settle }) => {
        sent.set(delivery.messageId, (sent.get(delivery.messageId) ?? 0) + 1);
        const attempt = { startedAt: Date.now(), results: [] };
        void settle({ state: 'dead', reason: 'refused', failedUrls: [], attempt });
      });
    }
    const areDead = async () => {
      const counts = await queue.counts();
      return (
        counts.every(({ state }) => state === 'dead') && counts.reduce((sum, { count }) => sum + count, 0) === DEAD
      );
    };
    await waitFor(areDead);
    const ended: string[] = [];
    const replaying = queue.replay({}).then((count) => ended.push(`replayed ${count}`));
    await Promise.all([replaying, queue.add([newDelivery('new')]).then(() => ended.push('added'))]);
    expect(ended).toEqual(['added', `replayed ${DEAD}`]);
    await waitFor(() => [...sent.values()].every((count) => count === 2));
    await queue.idle();
    expect([...sent.values()].filter((count) => count !== 2)).toEqual([]);
  });
});
