import type { Portion } from '../../api/keyset.hook.js';
import { answerOf } from '../deliveries/attempt-answer.component.js';
import { type DeliveryFilter, searchPortion } from '../deliveries/delivery-filter.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';

/** Maximum number of dead deliveries per answer. */
const PORTION_ROWS = 500;

/** Fields of a dead delivery that counting needs. */
export interface DeadDelivery {
  destination: string;
  reason: string;
  acceptedAt: number;
  /** Last answer of the receiver. */
  answer: string;
}

/** Dead deliveries of a destination that have the same reason. */
export interface DeadGroup {
  destination: string;
  reason: string;
  count: number;
  /** Times when the newest and the oldest were accepted, in ms since the epoch. */
  newest: number;
  oldest: number;
  /** Number of deliveries by last answer. */
  answers: Map<string, number>;
}

/** Loads a portion of the matching dead deliveries, with only the fields that counting needs. */
export async function deadPortion(
  filter: DeliveryFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Portion<DeadDelivery>> {
  const portion = await searchPortion({ ...filter, state: 'dead' }, cursor, signal, PORTION_ROWS);
  return { ...portion, rows: portion.rows.map(toDead) };
}

function toDead({ destination, reason = '', acceptedAt, lastAttempt }: DeliverySummary): DeadDelivery {
  const [result] = lastAttempt?.results ?? [];
  return { destination, reason, acceptedAt, answer: result ? answerOf(result) : 'no attempt' };
}

/** Groups dead deliveries by destination and reason, largest group first. */
export function groupDead(rows: readonly DeadDelivery[]): DeadGroup[] {
  const groups = new Map<string, DeadGroup>();
  for (const { destination, reason, acceptedAt, answer } of rows) {
    const key = keyOfGroup({ destination, reason });
    const group = groups.get(key) ?? {
      destination,
      reason,
      count: 0,
      newest: acceptedAt,
      oldest: acceptedAt,
      answers: new Map<string, number>(),
    };
    groups.set(key, group);
    group.count++;
    group.newest = Math.max(group.newest, acceptedAt);
    group.oldest = Math.min(group.oldest, acceptedAt);
    group.answers.set(answer, (group.answers.get(answer) ?? 0) + 1);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

export function keyOfGroup({ destination, reason }: Pick<DeadGroup, 'destination' | 'reason'>): string {
  return JSON.stringify([destination, reason]);
}
