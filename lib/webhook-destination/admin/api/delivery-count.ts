import type { TurnCaller } from '../../../common/turns.js';
import { classOfReason } from '../../queue/dead-reasons.js';
import type { DeliveryRecord, DeliveryState } from '../../queue/delivery.interface.js';
import type { DeliveryQueue } from '../../queue/delivery.queue.js';
import type { DeliverySearch } from '../../queue/delivery-search.js';

/** Time after which a count ends and answers how far it came, in ms. */
const COUNT_TIME = 2_000;

/** Maximum number of groups in an answer. */
const MAX_GROUPS = 1_000;

/** Maximum number of last answers of a group. */
const MAX_ANSWERS = 3;

/** Deliveries of a source to a destination in a state; dead ones have the same class of reasons. */
export interface CountedGroup {
  destination: string;
  source: string;
  state: DeliveryState;
  /** Class of the reasons, or a reason without one; absent unless the deliveries are dead. */
  reasonClass?: string | undefined;
  /** Reason of the newest. */
  reason?: string | undefined;
  count: number;
  /** When the newest and the oldest were accepted, in ms since the epoch. */
  newest: number;
  oldest: number;
  /** The most frequent answers of the first URL to the last attempt; neither field if nothing was sent. */
  answers: { status?: number; error?: string; count: number }[];
}

/** Number of the matching deliveries. */
export interface DeliveryCounts {
  count: number;
  /** When the newest was accepted, in ms since the epoch; null if none matches. */
  newest: number | null;
  /** The largest groups, at most 1,000. */
  groups: CountedGroup[];
  /** Where to go on, if the time was up: there may be more deliveries than were counted. */
  cursor?: string | undefined;
}

/** Counts the matching deliveries, in portions between which other searches have their turn. */
export async function countDeliveries(
  queue: Pick<DeliveryQueue, 'searches'>,
  search: DeliverySearch,
  after: string | undefined,
  caller: TurnCaller,
): Promise<DeliveryCounts> {
  const groups = new Map<string, Counting>();
  let count = 0;
  let newest = -Infinity;
  const add = (delivery: DeliveryRecord) => {
    count++;
    newest = Math.max(newest, delivery.acceptedAt);
    const { destination, source, state, reason } = delivery;
    const reasonClass = reason === undefined ? undefined : classOfReason(reason);
    const key = JSON.stringify([destination, source, state, reasonClass]);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = new Counting(delivery, reasonClass)));
    group.add(delivery);
  };
  const cursor = await queue.searches.visit(search, add, { after, time: COUNT_TIME, caller });
  const largest = [...groups.values()].sort((one, other) => other.count - one.count).slice(0, MAX_GROUPS);
  return { count, newest: count === 0 ? null : newest, groups: largest.map((group) => group.show()), cursor };
}

/** A group that is being counted. */
class Counting {
  count = 0;
  private newest = -Infinity;
  private oldest = Infinity;
  private readonly answers = new Map<string, CountedGroup['answers'][number]>();

  constructor(
    private readonly first: DeliveryRecord,
    private readonly reasonClass: string | undefined,
  ) {}

  add({ acceptedAt, attempts }: DeliveryRecord): void {
    this.count++;
    this.newest = Math.max(this.newest, acceptedAt);
    this.oldest = Math.min(this.oldest, acceptedAt);
    const { status, error } = attempts.at(-1)?.results[0] ?? {};
    const key = String(status ?? error);
    const answer = this.answers.get(key);
    if (answer) answer.count++;
    else {
      const shown = status === undefined ? { ...(error !== undefined && { error }) } : { status };
      this.answers.set(key, { ...shown, count: 1 });
    }
  }

  show(): CountedGroup {
    const { destination, source, state, reason } = this.first;
    const { count, newest, oldest, reasonClass } = this;
    const answers = [...this.answers.values()].sort((one, other) => other.count - one.count).slice(0, MAX_ANSWERS);
    return { destination, source, state, reasonClass, reason, count, newest, oldest, answers };
  }
}
