import type { Delivery, DeliveryOutcome } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import type {
  DeliveryStore,
  Settlement,
} from '../../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import { SettlementWriter } from '../../../lib/webhook-destination/queue/store/settlement.writer.js';

const attempt = { startedAt: 1, results: [] };

const OUTCOMES = {
  heldBack: { state: 'waiting', nextAttemptAt: 2, failedUrls: [] },
  refused: { state: 'dead', reason: 'refused', failedUrls: [], attempt },
  delivered: { state: 'delivered', attempt },
  released: undefined,
} satisfies Record<string, DeliveryOutcome | undefined>;

type Kind = keyof typeof OUTCOMES;

/** Settles so many of each kind in one turn, each after promises of its own; the ids of each group that the store got. */
async function settle(counts: Partial<Record<Kind, number>>): Promise<string[][]> {
  const groups: string[][] = [];
  const store = {
    settle: (settlements: Settlement[]) => {
      groups.push(settlements.map(({ delivery }) => delivery.id));
      return Promise.resolve(settlements.map(() => true));
    },
  };
  const writer = new SettlementWriter(store as unknown as DeliveryStore, () => Date.now());
  const written = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, async (_, index) => {
      for (let awaited = 0; awaited < index; awaited++) await Promise.resolve();
      const delivery = { id: `${kind} ${index}` } as Delivery;
      return writer.write({ delivery, outcome: OUTCOMES[kind as Kind] }, () => undefined);
    }),
  );
  expect(await Promise.all(written)).toEqual(written.map(() => true));
  return groups;
}

describe('SettlementWriter', () => {
  it('writes what ends in one turn as one group', async () => {
    expect((await settle({ refused: 40, delivered: 40 })).map(({ length }) => length)).toEqual([80]);
  });

  it.each(['heldBack', 'released'] as const)(
    'writes a few %s deliveries at a time, so that no other outcome waits for them',
    async (kind) => {
      const groups = await settle({ [kind]: 20, delivered: 3 });
      expect(groups.map(({ length }) => length)).toEqual([11, 8, 4]);
      expect(groups[0]!.filter((id) => id.startsWith('delivered'))).toHaveLength(3);
      expect(groups.flat().filter((id) => id.startsWith(kind))).toEqual(
        Array.from({ length: 20 }, (_, index) => `${kind} ${index}`),
      );
    },
  );
});
