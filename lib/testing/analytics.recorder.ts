import { concat, first, firstValueFrom, Subject, throwError, timeout as timeLimit } from 'rxjs';

import type { AnalyticsService } from '../analytics/analytics.service.js';
import { type Message, type MessageType, RelayError } from '../client/index.js';
import { ArgumentError } from '../common/relay.errors.js';
import { followTransaction } from './transaction-end.util.js';

/** Options of {@link AnalyticsRecorder.waitFor}. */
export interface WaitOptions {
  /**
   * Milliseconds after which the promise rejects.
   *
   * @default 1_000
   */
  timeout?: number;
}

// Stored on the instance, so that code with the package's other build finds the recorder too.
const RECORDER = Symbol.for('nestjs-analytics-relay:recorder');

/** Records the events of an application under test as they would be sent, after plugins. */
export class AnalyticsRecorder {
  private recorded: Message[] = [];
  /** Events of transactions that have not ended. */
  private readonly open = new WeakMap<object, Message[]>();
  private readonly followed = new WeakSet<object>();
  private readonly added = new Subject<Message>();

  /**
   * Returns the recorder of an instance that `AnalyticsTestingModule` provides.
   *
   * @throws {ArgumentError} for any other instance.
   */
  static of(analytics: AnalyticsService): AnalyticsRecorder {
    const recorder = findRecorder(analytics);
    if (!recorder) throw new ArgumentError('This instance was not created by AnalyticsTestingModule');
    return recorder;
  }

  /** All events, in the order in which they would be sent. */
  get events(): readonly Message[] {
    return this.recorded;
  }

  /** Returns the events of one message type. */
  ofType(type: MessageType): Message[] {
    return this.recorded.filter((event) => event.type === type);
  }

  /** Returns the track events with this name. */
  named(name: string): Message[] {
    return this.ofType('track').filter(({ event }) => event === name);
  }

  /**
   * Removes the events that were recorded in a transaction and not committed. To be called where a transaction does not
   * show its end: that of a mock, of Prisma, Kysely or MikroORM.
   *
   * @see docs/testing.md, "Transactions"
   */
  rolledBack(tx: object): void {
    const dropped = new Set(this.open.get(tx));
    this.open.delete(tx);
    this.recorded = this.recorded.filter((event) => !dropped.has(event));
  }

  /** Removes all events, for example between two tests. */
  clear(): void {
    this.recorded = [];
  }

  /**
   * Resolves with the first matching event, whether it is already recorded or recorded later: a track event with this
   * name, or an event for which the function returns true. Rejects with a `RelayError` with the code `wait_timeout`
   * when the timeout expires; the message lists the events recorded instead.
   */
  waitFor(wanted: string | ((event: Message) => boolean), { timeout = 1_000 }: WaitOptions = {}): Promise<Message> {
    const isNamed = (event: Message) => event.type === 'track' && event.event === wanted;
    const giveUp = () => {
      const what = typeof wanted === 'string' ? JSON.stringify(wanted) : 'a matching event';
      const message = `Timed out after ${timeout} ms waiting for ${what}. Recorded: ${summarise(this.recorded)}`;
      return throwError(() => new RelayError('wait_timeout', message));
    };
    const found = concat(this.recorded, this.added).pipe(
      first(typeof wanted === 'function' ? wanted : isNamed),
      timeLimit({ first: timeout, with: giveUp }),
    );
    return firstValueFrom(found);
  }

  /** @internal */
  add(event: Message, tx?: unknown): void {
    if (typeof tx === 'object' || typeof tx === 'function') this.follow(tx, event);
    this.recorded.push(event);
    this.added.next(event);
  }

  private follow(tx: object | null, event: Message): void {
    if (!tx) return;
    this.open.set(tx, [...(this.open.get(tx) ?? []), event]);
    if (this.followed.has(tx)) return;
    this.followed.add(tx);
    followTransaction(tx, (isCommitted) => (isCommitted ? this.open.delete(tx) : this.rolledBack(tx)));
  }

  /** @internal */
  attach(analytics: AnalyticsService): void {
    Object.defineProperty(analytics, RECORDER, { value: this });
  }
}

/** Returns the recorder that a matcher was given, directly or through an instance. */
export function findRecorder(value: unknown): AnalyticsRecorder | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { [RECORDER]: recorder } = value as { [RECORDER]?: AnalyticsRecorder };
  return recorder ?? (Array.isArray((value as AnalyticsRecorder).events) ? (value as AnalyticsRecorder) : undefined);
}

/** Summarises the events, for a failed test. */
export function summarise(events: readonly Message[]): string {
  if (events.length === 0) return 'nothing';
  const names = events.map(({ type, event, name, userId }) =>
    type === 'track' ? JSON.stringify(event) : [type, name ?? userId].filter(Boolean).join(' '),
  );
  return names.length > 20 ? `${names.slice(0, 20).join(', ')} and ${names.length - 20} more` : names.join(', ');
}
