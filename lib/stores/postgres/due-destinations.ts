import { setTimeout as sleep } from 'node:timers/promises';

import { BehaviorSubject, NEVER, Observable, share, switchMap } from 'rxjs';

import { decodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';
import type { PostgresSignals } from './postgres-signals.js';
import { restAfter, type Statement } from './statement-runner.js';

/** Minimum wait between two polls for due deliveries, in ms. */
const POLL_INTERVAL = 1_000;

/** Minimum time between two signals of this process, in ms: commits that signal wait for each other. */
const SIGNAL_INTERVAL = 50;

/** Finds destinations with due deliveries, through signals of other processes and by polling. */
export class DueDestinations {
  private readonly isOpen = new BehaviorSubject(false);
  /** Emits destinations with due deliveries, while the store is open. */
  readonly names$ = this.isOpen.pipe(
    switchMap((isOpen) => (isOpen ? this.follow() : NEVER)),
    share(),
  );
  private readonly poll = pollStatement(this.database.schema);
  private readonly announced = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param now the queue's time, in ms since the epoch */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly signals: PostgresSignals,
    private readonly now: () => number,
  ) {}

  open(): void {
    this.isOpen.next(true);
  }

  /** Notifies other processes of destinations with due deliveries: at once, and then every 50 ms at most. */
  announce(names: Iterable<string>): void {
    for (const name of names) this.announced.add(name);
    if (this.announced.size === 0 || this.timer) return;
    this.signals.sendDue([...this.announced]).catch(() => undefined); // the others find them with their next poll
    this.announced.clear();
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

  private follow(): Observable<string> {
    return new Observable((subscriber) => {
      let rest = new AbortController();
      const poll = async () => {
        while (!subscriber.closed) {
          const start = performance.now();
          try {
            const rows = await this.database.query<{ destination: string }>(this.poll, [Math.floor(this.now())]);
            for (const { destination } of rows) subscriber.next(decodeText(destination));
          } catch {
            // The outage is logged, and the next poll tries again.
          }
          const length = Math.max(restAfter(performance.now() - start), POLL_INTERVAL);
          rest = new AbortController();
          await sleep(length, undefined, { ref: false, signal: rest.signal }).catch(() => undefined);
        }
      };
      const signals = this.signals.due$.subscribe((names) => {
        for (const name of names) subscriber.next(name);
        if (names.length === 0) rest.abort();
      });
      void poll();
      return () => {
        signals.unsubscribe();
        rest.abort();
      };
    });
  }
}

/** Reads the delivery that falls due first of each destination with open deliveries: one index entry each. */
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
