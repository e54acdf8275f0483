import { CallGroup } from '../shared/call-group.js';
import type { Claim, ClaimLimit } from '../store/delivery-store.interface.js';
import { type DeliveryRow, encodeText, toLeased } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';
import type { ProcessLeases } from './process-leases.js';
import type { Statement } from './statement-runner.js';

/** Maximum number of destinations in one claim statement. */
const MAX_GROUP = 64;

/**
 * Total size of the bodies that one claim statement reads, in bytes; the last one of each destination may exceed it. On
 * the wire they are twice as large, and a slow link must carry them before the query times out.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/** How long claims may begin where the previous one ended, in ms, before one begins with the delivery due first. */
const SKIP_TIME = 1_000;

interface Call {
  destination: string;
  limit: ClaimLimit;
  now: number;
  /** Set once the statement has run. */
  claim?: Claim;
}

interface ClaimedRow extends DeliveryRow {
  place: number;
  next_due_at: number | null;
  due_at: string;
}

/** Where the next claim of a destination's backlog begins. */
interface Mark {
  dueAt: string;
  /** When the mark expires, in ms by `performance.now()`. */
  until: number;
}

/** Claims deliveries, with one statement for several destinations that claim at once. */
export class ClaimGroup {
  private readonly group = new CallGroup<Call>((calls) => this.run(calls), MAX_GROUP);
  /** Marks of destinations with a backlog; without them, each claim would scan all rows that were claimed before it. */
  private readonly marks = new Map<string, Mark>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly statement: Statement,
    private readonly leases: ProcessLeases,
  ) {}

  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    const call: Call = { destination, limit, now };
    await this.group.add([call]);
    return call.claim!;
  }

  private async run(calls: Call[]): Promise<void> {
    const { mark: lease } = this.leases;
    const marks = calls.map(({ destination }) => this.markOf(destination));
    const maxBytes = calls.map(({ limit }) => Math.min(limit.bytes, MAX_BYTES / calls.length));
    const rows = await this.database.query<ClaimedRow>(this.statement, [
      Math.floor(Math.max(...calls.map(({ now }) => now))),
      lease,
      calls.map(({ destination }) => encodeText(destination)),
      calls.map(({ limit }) => limit.deliveries),
      maxBytes,
      marks.map((mark) => mark?.dueAt ?? 0),
    ]);
    const claims = calls.map((): Claim => ({ deliveries: [], more: false, nextDueAt: undefined }));
    const lastDueAt: string[] = [];
    const bytes = calls.map(() => 0);
    for (const row of rows) {
      const index = row.place - 1;
      const claim = claims[index]!;
      claim.nextDueAt = row.next_due_at ?? undefined;
      if (row.id === null || lease !== this.leases.mark) continue; // or the lease has ended meanwhile
      claim.deliveries.push(toLeased(row, lease));
      lastDueAt[index] = row.due_at;
      bytes[index]! += row.body.length;
    }
    calls.forEach((call, index) => {
      const { destination, limit } = call;
      const claim = (call.claim = claims[index]!);
      const isFull = claim.deliveries.length >= limit.deliveries || bytes[index]! >= maxBytes[index]!;
      const mark = marks[index];
      // Deliveries before the mark are claimed when there are no more after it, or when it expires.
      claim.more = isFull || mark !== undefined;
      if (claim.more) claim.nextDueAt = undefined;
      if (isFull && lastDueAt[index] !== undefined) {
        const until = mark?.until ?? performance.now() + SKIP_TIME;
        this.marks.set(destination, { dueAt: lastDueAt[index], until });
      } else {
        this.marks.delete(destination);
      }
    });
  }

  private markOf(destination: string): Mark | undefined {
    const mark = this.marks.get(destination);
    return mark && performance.now() < mark.until ? mark : undefined;
  }
}
