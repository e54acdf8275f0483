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

type EventListener = (event: Message) => void;

// On the instance: code that has the package's other build finds its recorder too.
const RECORDER = Symbol.for('nestjs-analytics-relay:recorder');

/** Holds the events of an application under test as they would be sent, after plugins. */
export class AnalyticsRecorder {
  private recorded: Message[] = [];
  private listeners: EventListener[] = [];

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
    const matches =
      typeof wanted === 'function' ? wanted : (event: Message) => event.type === 'track' && event.event === wanted;
    const found = this.recorded.find(matches);
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.listeners = this.listeners.filter((other) => other !== onEvent);
      };
      const onEvent: EventListener = (event) => {
        try {
          if (!matches(event)) return;
          resolve(event);
        } catch (error) {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever the test's function threw
          reject(error);
        }
        end();
      };
      const timer = setTimeout(() => {
        end();
        const what = typeof wanted === 'string' ? JSON.stringify(wanted) : 'a matching event';
        const message = `Timed out after ${timeout} ms waiting for ${what}. Recorded: ${summarise(this.recorded)}`;
        reject(new RelayError('wait_timeout', message));
      }, timeout);
      this.listeners.push(onEvent);
    });
  }

  /** @internal */
  add(event: Message): void {
    this.recorded.push(event);
    for (const onEvent of this.listeners) onEvent(event);
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
