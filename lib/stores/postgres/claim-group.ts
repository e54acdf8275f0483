import { CallGroup } from '../shared/call-group.js';
import type { Claim, ClaimLimit } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { type DeliveryRow, encodeText, toLeased } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';
import type { ProcessLeases } from './process-leases.js';
import { restAfter, type Statement } from './statement-runner.js';

/** Maximum number of destinations in one claim statement. */
const MAX_GROUP = 64;

/**
 * Total size of the bodies that one claim statement reads, in bytes; the last one of each destination may exceed it. On
 * the wire they are twice as large, and a slow link must carry them before the query times out.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/** How long claims of a backlog begin where the previous one ended, in ms, before one begins with the delivery due first. */
const SKIP_TIME = 1_000;

/** How far back claims begin while a scan of all rows is expensive, in ms: another process may commit late. */
const LATE = 5_000;

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

/** Where the next claim of a destination begins. */
interface Mark {
  dueAt: number;
  /** When the mark expires, in ms by `performance.now()`. */
  until: number;
  /** Whether a scan of all rows is too expensive to be made before that. */
  isExpensive: boolean;
}

/** Claims deliveries, with one statement for several destinations that claim at once. */
export class ClaimGroup {
  private readonly group = new CallGroup<Call>((calls) => this.run(calls), MAX_GROUP);
  /** Without marks, each claim would scan all rows that were claimed before it, until these are vacuumed. */
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

  /** To be called for destinations whose deliveries before their mark are due again. */
  forget(destinations: string[]): void {
    for (const destination of destinations) this.marks.delete(destination);
  }

  /** To be called when a destination got a delivery that is due since `dueAt`, in ms since the epoch. */
  lower(destination: string, dueAt: number): void {
    const mark = this.marks.get(destination);
    if (mark) mark.dueAt = Math.min(mark.dueAt, dueAt);
  }

  private async run(calls: Call[]): Promise<void> {
    const { mark: lease } = this.leases;
    const marks = calls.map(({ destination }) => this.markOf(destination));
    const maxBytes = calls.map(({ limit }) => Math.min(limit.bytes, MAX_BYTES / calls.length));
    const now = Math.max(...calls.map((call) => call.now));
    const start = performance.now();
    const rows = await this.database.query<ClaimedRow>(this.statement, [
      Math.floor(now),
      lease,
      calls.map(({ destination }) => encodeText(destination)),
      calls.map(({ limit }) => limit.deliveries),
      maxBytes,
      marks.map((mark) => mark?.dueAt ?? 0),
    ]);
    const end = performance.now();
    const rest = restAfter(end - start);
    const claims = calls.map((): Claim => ({ deliveries: [], more: false, nextDueAt: undefined }));
    const lastDueAt: number[] = [];
    const bytes = calls.map(() => 0);
    for (const row of rows) {
      const index = row.place - 1;
      const claim = claims[index]!;
      claim.nextDueAt = row.next_due_at ?? undefined;
      if (row.id === null || lease !== this.leases.mark) continue; // or the lease has ended meanwhile
      claim.deliveries.push(toLeased(row, lease));
      lastDueAt[index] = Number(row.due_at);
      bytes[index]! += row.body.length;
    }
    calls.forEach((call, index) => {
      const { destination, limit } = call;
      const claim = (call.claim = claims[index]!);
      const isFull = claim.deliveries.length >= limit.deliveries || bytes[index]! >= maxBytes[index]!;
      const { until, isExpensive, dueAt } = marks[index] ?? {
        until: end + (isFull ? Math.max(SKIP_TIME, rest) : rest),
        isExpensive: rest > 0,
        dueAt: 0,
      };
      // Deliveries before the mark are claimed when there are no more after it, or when it expires.
      claim.more = isFull || (marks[index] !== undefined && !isExpensive);
      if (claim.more) claim.nextDueAt = undefined;
      else if (marks[index]) claim.nextDueAt = Math.min(claim.nextDueAt ?? Infinity, now + until - end);
      if (isFull && lastDueAt[index] !== undefined) {
        this.marks.set(destination, { dueAt: lastDueAt[index], until, isExpensive });
      } else if (isExpensive) {
        this.marks.set(destination, { dueAt: Math.max(dueAt, Math.floor(now - LATE)), until, isExpensive });
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
