import { randomUUID } from 'node:crypto';

import type { Observable, Subscription } from 'rxjs';

import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
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
export interface Receipt {
  /** Number of notifications that the receiver accepted. */
  delivered: number;
  /** Number of notifications that are dead: the receiver did not accept them. */
  dead: number;
  /** Time of the last of these outcomes, in ms since the epoch. */
  at: number;
  /** The last status answered; undefined if there was no answer. */
  status?: number | undefined;
  /** Why the last one of those that are dead is. */
  reason?: string | undefined;
}

/** By destination. A Map, because a destination may have a name that objects inherit. */
type Receipts = Map<string, Receipt>;

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
      for (const [destination, receipt] of Object.entries(JSON.parse(text) as Record<string, Receipt>)) {
        add(sum, destination, receipt);
      }
    }
    return Object.fromEntries(sum);
  }

  /** Called before the queue closes. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await this.writer.close();
  }

  private count(event: DeliveryEvent): void {
    const { deletion, type, destination, results } = event;
    if (deletion === undefined || type === 'retry') return;
    const counted = this.counted.get(deletion) ?? {
      id: `${deletion} ${randomUUID()}`,
      receipts: new Map<string, Receipt>(),
    };
    this.counted.delete(deletion);
    this.counted.set(deletion, counted);
    if (this.counted.size > MAX_COUNTED) this.counted.delete(this.counted.keys().next().value!);
    const { id, receipts } = counted;
    if (!receipts.has(destination) && receipts.size >= MAX_NAMES) return;
    add(receipts, destination, {
      delivered: type === 'delivered' ? 1 : 0,
      dead: type === 'dead' ? 1 : 0,
      at: Date.now(),
      status: (
        results.find(({ outcome }) => outcome === 'success') ?? results.find(({ status }) => status !== undefined)
      )?.status,
      reason: type === 'dead' ? event.reason : undefined,
    });
    this.writer.put(RECEIPTS, id, { toJSON: () => Object.fromEntries(receipts) });
  }
}

function add(receipts: Receipts, destination: string, { delivered, dead, at, status, reason }: Receipt): void {
  const sum = receipts.get(destination) ?? { delivered: 0, dead: 0, at: 0 };
  receipts.set(destination, sum);
  sum.delivered += delivered;
  sum.dead += dead;
  if (at < sum.at) return;
  Object.assign(sum, { at, status, reason });
}
