import type { CountedGroup, DeliveryCounts } from '../../../lib/webhook-destination/admin/api/delivery-count.js';
import { get } from '../../api/api.client.js';
import type { Portion } from '../../api/keyset.hook.js';
import { answerOf } from '../deliveries/attempt-answer.component.js';
import type { DeliveryFilter } from '../deliveries/delivery-filter.js';

/** Dead deliveries of a destination whose reasons have the same class. */
export interface DeadGroup extends Pick<CountedGroup, 'destination' | 'count' | 'newest' | 'oldest'> {
  /** Class of the reasons. */
  reason: string;
  /** Number of deliveries by last answer, of the most frequent ones. */
  answers: Map<string, number>;
}

/** Counts the matching dead deliveries, as far as the relay does in one answer. */
export async function countDead(
  filter: DeliveryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Portion<DeliveryCounts>> {
  const counts = await get<DeliveryCounts>('deliveries/count', {
    query: { ...filter, state: 'dead', cursor },
    signal,
  });
  return { rows: [counts], cursor: counts.cursor };
}

export function totalOf(counts: readonly DeliveryCounts[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** Joins the groups of all answers, largest group first. */
export function joinGroups(counts: readonly DeliveryCounts[]): DeadGroup[] {
  const groups = new Map<string, DeadGroup>();
  for (const { destination, reasonClass: reason = '', ...counted } of counts.flatMap((answer) => answer.groups)) {
    const key = keyOfGroup({ destination, reason });
    const group = groups.get(key) ?? { destination, reason, ...counted, count: 0, answers: new Map<string, number>() };
    groups.set(key, group);
    group.count += counted.count;
    group.newest = Math.max(group.newest, counted.newest);
    group.oldest = Math.min(group.oldest, counted.oldest);
    for (const { count, ...answer } of counted.answers) {
      const text = 'status' in answer || 'error' in answer ? answerOf(answer) : 'no attempt';
      group.answers.set(text, (group.answers.get(text) ?? 0) + count);
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

export function keyOfGroup({ destination, reason }: Pick<DeadGroup, 'destination' | 'reason'>): string {
  return JSON.stringify([destination, reason]);
}
