import { concat, first, firstValueFrom, Subject, throwError, timeout as timeLimit } from 'rxjs';

import type { AnalyticsService } from '../analytics/analytics.service.js';
import { type Message, type MessageType, RelayError } from '../client/index.js';
import { ArgumentError } from '../common/relay.errors.js';

/** Options of {@link AnalyticsRecorder.waitFor}. */
export interface WaitOptions {
  /**
   * Milliseconds after which the promise rejects.
   *
   * @default 1_000
   */
  timeout?: number;
}

// On the instance: code that has the package's other build finds its recorder too.
const RECORDER = Symbol.for('nestjs-analytics-relay:recorder');

/** Holds the events of an application under test as they would be sent, after plugins. */
export class AnalyticsRecorder {
  private recorded: Message[] = [];
  private readonly added = new Subject<Message>();

  /**
   * The recorder of an instance that `AnalyticsTestingModule` provides.
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

  /** The events of one kind. */
  ofType(type: MessageType): Message[] {
    return this.recorded.filter((event) => event.type === type);
  }

  /** The track events of this name. */
  named(name: string): Message[] {
    return this.ofType('track').filter(({ event }) => event === name);
  }

  /** Forgets all events, as between two tests. */
  clear(): void {
    this.recorded = [];
  }

  /**
   * The first event, recorded already or later, of this name (of a track event) or for which the function answers true.
   * Rejects with a `RelayError` with the code `wait_timeout` when the timeout expires; the message lists the events
   * recorded instead.
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
  add(event: Message): void {
    this.recorded.push(event);
    this.added.next(event);
  }

  /** @internal */
  attach(analytics: AnalyticsService): void {
    Object.defineProperty(analytics, RECORDER, { value: this });
  }
}

/** What a matcher was given: a recorder, or an instance that has one. */
export function findRecorder(value: unknown): AnalyticsRecorder | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { [RECORDER]: recorder } = value as { [RECORDER]?: AnalyticsRecorder };
  return recorder ?? (Array.isArray((value as AnalyticsRecorder).events) ? (value as AnalyticsRecorder) : undefined);
}

/** The events in a few words, for a failed test. */
export function summarise(events: readonly Message[]): string {
  if (events.length === 0) return 'nothing';
  const names = events.map(({ type, event, name, userId }) =>
    type === 'track' ? JSON.stringify(event) : [type, name ?? userId].filter(Boolean).join(' '),
  );
  return names.length > 20 ? `${names.slice(0, 20).join(', ')} and ${names.length - 20} more` : names.join(', ');
}
