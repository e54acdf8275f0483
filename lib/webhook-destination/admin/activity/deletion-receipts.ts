import { randomUUID } from 'node:crypto';

import type { Observable, Subscription } from 'rxjs';

import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import { userIndexOf } from '../../queue/delivery.interface.js';
import type { KeptLog, LogStore } from '../../queue/log-store.interface.js';
import { LogWriter } from '../../queue/log.writer.js';
import { MAX_NAMES } from '../../queue/query.util.js';
import { ACTIVITY_AGE } from './activity.log.js';

/** As long as the proofs of the deletions. A process that sends notifications of a deletion has one record of it. */
const RECEIPTS: KeptLog = { name: 'activity-receipts', age: ACTIVITY_AGE, count: 20_000 };

/** Deletions whose counts stay in memory. */
const MAX_COUNTED = 1_000;

/** Maximum number of records of one deletion that are read: processes, and their restarts, that sent its notifications. */
const MAX_RECORDS = 500;

/** What became of the delete notifications of a deletion to one destination. */
export interface Receipt<Notices = number> {
  /** Number of notifications that the receiver accepted. */
  delivered: Notices;
  /** Number of notifications that were dead, with those that the receiver has accepted since. */
  dead: Notices;
  /** Time of the last of these outcomes, in ms since the epoch. */
  at: number;
  /** The last status answered; undefined if there was no answer. */
  status?: number | undefined;
  /** Why the last one of those that are dead is. */
  reason?: string | undefined;
}

/**
 * By destination. A Map, because a destination may have a name that objects inherit. Notifications are bits, each at the
 * index of its user: one that is replayed has several outcomes, which several processes may see, and counts once.
 */
type Receipts = Map<string, Receipt<bigint>>;

/** Records whether receivers answered the notifications of deletions. */
export class DeletionReceipts {
  private readonly writer: LogWriter;
  /** Counts of this process by deletion, those that changed last at the end. */
  private readonly counted = new Map<string, { id: string; receipts: Receipts }>();
  private readonly subscription: Subscription;

  constructor(
    private readonly store: LogStore,
    events$: Observable<DeliveryEvent>,
  ) {
    this.writer = new LogWriter(store, 'Answers to delete notifications');
    this.subscription = events$.subscribe((event) => this.count(event));
  }

  /** Returns the receipts of a deletion by destination, of all processes. */
  async read(deletion: string): Promise<Record<string, Receipt>> {
    await this.writer.flush();
    const records = await this.store.read(RECEIPTS, MAX_RECORDS, `${deletion}~`);
    const sum: Receipts = new Map();
    for (const { id, text } of records) {
      if (!id.startsWith(`${deletion} `)) break;
      const kept = Object.entries(JSON.parse(text) as Record<string, Receipt<string>>);
      for (const [destination, { delivered, dead, ...last }] of kept) {
        add(sum, destination, { delivered: BigInt(delivered), dead: BigInt(dead), ...last });
      }
    }
    return toRecord(sum, (notices) => notices.toString(2).replaceAll('0', '').length);
  }

  /** Called before the queue closes. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await this.writer.close();
  }

  private count(event: DeliveryEvent): void {
    const { deletion, messageId, type, destination, results } = event;
    if (deletion === undefined || type === 'retry') return;
    const counted = this.counted.get(deletion) ?? {
      id: `${deletion} ${randomUUID()}`,
      receipts: new Map<string, Receipt<bigint>>(),
    };
    this.counted.delete(deletion);
    this.counted.set(deletion, counted);
    if (this.counted.size > MAX_COUNTED) this.counted.delete(this.counted.keys().next().value!);
    const { id, receipts } = counted;
    if (!receipts.has(destination) && receipts.size >= MAX_NAMES) return;
    const notice = 1n << BigInt(userIndexOf(messageId));
    add(receipts, destination, {
      delivered: type === 'delivered' ? notice : 0n,
      dead: type === 'dead' ? notice : 0n,
      at: Date.now(),
      status: (
        results.find(({ outcome }) => outcome === 'success') ?? results.find(({ status }) => status !== undefined)
      )?.status,
      reason: type === 'dead' ? event.reason : undefined,
    });
    this.writer.put(RECEIPTS, id, { toJSON: () => toRecord(receipts, (notices) => `0x${notices.toString(16)}`) });
  }
}

function add(receipts: Receipts, destination: string, { delivered, dead, at, status, reason }: Receipt<bigint>): void {
  const sum = receipts.get(destination) ?? { delivered: 0n, dead: 0n, at: 0 };
  receipts.set(destination, sum);
  sum.delivered |= delivered;
  sum.dead |= dead;
  if (at < sum.at) return;
  Object.assign(sum, { at, status, reason });
}

/** @param show returns what stands for notifications */
function toRecord<T>(receipts: Receipts, show: (notices: bigint) => T): Record<string, Receipt<T>> {
  return Object.fromEntries(
    Array.from(receipts, ([destination, { delivered, dead, ...last }]) => [
      destination,
      { delivered: show(delivered), dead: show(dead), ...last },
    ]),
  );
}
