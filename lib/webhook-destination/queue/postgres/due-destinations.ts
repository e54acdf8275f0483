import { BehaviorSubject, NEVER, Observable, share, switchMap } from 'rxjs';

import { decodeText } from './delivery.codec.js';
import type { PostgresDatabase, Statement } from './postgres.database.js';
import type { PostgresSignals } from './postgres-signals.js';

/** Shortest time between two looks for due deliveries, in ms. */
const POLL_INTERVAL = 1_000;

/** A look takes at most one part in so many of the time. */
const POLL_SHARE = 50;

/** Shortest time between two signals of this process, in ms: commits that signal wait for each other. */
const SIGNAL_INTERVAL = 50;

/** Tells which destinations have due deliveries, by signals of other processes, and by looking now and then. */
export class DueDestinations {
  /** Names of destinations with due deliveries, while the store is open. */
  readonly names$: Observable<string>;
  private readonly isOpen = new BehaviorSubject(false);
  private readonly poll: Statement;
  private readonly announced = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param now the queue's time, in ms since the epoch */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly signals: PostgresSignals,
    private readonly now: () => number,
  ) {
    this.poll = pollStatement(database.schema);
    this.names$ = this.isOpen.pipe(
      switchMap((isOpen) => (isOpen ? this.follow() : NEVER)),
      share(),
    );
  }

  open(): void {
    this.isOpen.next(true);
  }

  /** Tells other processes of destinations that have something due: at once, and then every 50 ms at most. */
  announce(names: Iterable<string>): void {
    for (const name of names) this.announced.add(name);
    if (this.announced.size === 0 || this.timer) return;
    this.send();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.announce([]);
    }, SIGNAL_INTERVAL).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isOpen.next(false);
  }

  private send(): void {
    const names = [...this.announced];
    this.announced.clear();
    this.signals.sendDue(names).catch(() => undefined); // the others find them with their next look
  }

  private follow(): Observable<string> {
    return new Observable((subscriber) => {
      let timer: NodeJS.Timeout | undefined;
      let isPolling = false;
      const poll = async () => {
        if (isPolling) return;
        isPolling = true;
        clearTimeout(timer);
        const start = performance.now();
        try {
          const rows = await this.database.query<{ destination: string }>(this.poll, [Math.floor(this.now())]);
          for (const { destination } of rows) subscriber.next(decodeText(destination));
        } catch {
          // the outage is logged, and the next look is soon
        }
        isPolling = false;
        if (subscriber.closed) return;
        const rest = Math.max(POLL_INTERVAL, (performance.now() - start) * POLL_SHARE);
        timer = setTimeout(() => void poll(), rest).unref();
      };
      const signals = this.signals.due$.subscribe((names) => {
        for (const name of names) subscriber.next(name);
        if (names.length === 0) void poll();
      });
      void poll();
      return () => {
        clearTimeout(timer);
        signals.unsubscribe();
      };
    });
  }
}

/** Reads, for each destination that has open deliveries, the one that falls due first: an index entry each. */
function pollStatement(schema: string): Statement {
  const first = (which: string) => `
    SELECT destination, due_at FROM ${schema}.relay_delivery WHERE state IN ('queued', 'waiting') ${which}
    ORDER BY destination, due_at, id LIMIT 1`;
  return {
    name: 'relay_poll',
    text: `
      WITH RECURSIVE first AS (
        (${first('')})
        UNION ALL
        SELECT next.* FROM first, LATERAL (${first('AND destination > first.destination')}) next
      )
      SELECT destination FROM first WHERE due_at <= $1::bigint`,
  };
}
