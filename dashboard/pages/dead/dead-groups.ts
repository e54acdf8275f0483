import type { CountedGroup, DeliveryCounts } from '../../../lib/webhook-destination/admin/api/delivery-count.js';
import { answerOf } from '../deliveries/attempt-answer.component.js';

/** Dead deliveries of a destination whose reasons have the same class. */
export interface DeadGroup extends Pick<CountedGroup, 'destination' | 'count' | 'newest' | 'oldest'> {
  /** Class of the reasons. */
  reason: string;
  /** Number of deliveries by last answer, of the most frequent ones. */
  answers: Map<string, number>;
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
