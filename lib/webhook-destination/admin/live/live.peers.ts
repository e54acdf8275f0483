import { randomUUID } from 'node:crypto';

import { filter, map, Observable, type Subscription } from 'rxjs';

import { isPlainObject } from '../../../client/message/message.rules.js';
import { parseJson } from '../../../common/value.util.js';
import { MAX_PEER_TEXT, type PeerChannel } from '../../queue/peer-channel.interface.js';
import { isLiveEvent, type LiveEvent, type LiveFilter, passes } from './live.event.js';

/** Time between two requests for events, in ms. */
const ASK_INTERVAL = 5_000;

/** Time for which a process sends its events after a request, in ms. */
const SHARE_TIME = 2.5 * ASK_INTERVAL;

/** Time between two texts of a process, in ms. With the maximum size of a text, it limits the bandwidth. */
const SEND_INTERVAL = 100;

/** Maximum size of the events or filters in a text, in bytes; the remainder is for the surrounding JSON. */
const MAX_SIZE = MAX_PEER_TEXT - 200;

/** Maximum number of filters that each event is compared with. Above it, a process sends all its events. */
const MAX_FILTERS = 100;

/** Filter that every event passes. */
const ALL: LiveFilter = {};

/** Request for the events that pass one of the filters, or for all events if there are no filters. */
interface Ask {
  ask: true;
  /** Id of the requesting process; its next request replaces this one. */
  from?: string;
  filters?: LiveFilter[];
}

/** Events of another process, and the number of events it dropped. */
interface PeerEvents {
  events: LiveEvent[];
  missed: number;
}

type Text = Ask | PeerEvents;

/** Shares live events between the processes of a queue, while somebody is watching. */
export class LivePeers {
  /** Events of other processes, requested for as long as there is a subscriber. */
  readonly events$: Observable<PeerEvents>;
  private readonly received$: Observable<Text>;
  private asked: Subscription | undefined;
  private sharing: Subscription | undefined;
  private readonly id = randomUUID();
  private readonly asks = new Map<string, { filters: LiveFilter[]; until: number }>();
  /** Filters of the other processes: events that pass one of them are sent. */
  private wanted: LiveFilter[] = [];
  private pending: string[] = [];
  private size = 0;
  private missed = 0;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param own$ events of this process
   * @param filters returns the filters of the streams of this process
   */
  constructor(
    private readonly channel: PeerChannel,
    private readonly own$: Observable<LiveEvent>,
    private readonly filters: () => LiveFilter[],
  ) {
    this.received$ = channel.received$.pipe(
      map(readText),
      filter((text) => text !== undefined),
    );
    const answers$ = this.received$.pipe(filter((text) => 'events' in text));
    this.events$ = new Observable((subscriber) => {
      this.ask();
      const timer = setInterval(() => this.ask(), ASK_INTERVAL).unref();
      subscriber.add(() => clearInterval(timer));
      return answers$.subscribe(subscriber);
    });
  }

  /** Answers other processes from now on. Called once the queue is open. */
  open(): void {
    this.asked = this.received$.subscribe((text) => {
      if ('ask' in text) this.share(text);
    });
  }

  /** Requests the events that are watched now. Called immediately when the filters change. */
  ask(): void {
    const ask: Ask = { ask: true, from: this.id };
    const text = JSON.stringify({ ...ask, filters: this.filters() });
    this.send(sizeWithin(text) > MAX_SIZE ? JSON.stringify(ask) : text);
  }

  close(): void {
    this.asked?.unsubscribe();
    this.stop();
  }

  private share({ from = '', filters = [ALL] }: Ask): void {
    this.asks.set(from, { filters, until: performance.now() + SHARE_TIME });
    this.forgetAsks();
    if (this.sharing) return;
    this.sharing = this.own$.subscribe((event) => {
      if (this.wanted.some((filter) => passes(event, filter))) this.add(JSON.stringify(event));
    });
    this.timer = setInterval(() => this.flush(), SEND_INTERVAL).unref();
  }

  /** Forgets expired requests. */
  private forgetAsks(): void {
    const now = performance.now();
    for (const [from, { until }] of this.asks) if (now > until) this.asks.delete(from);
    const filters = [...this.asks.values()].flatMap((ask) => ask.filters);
    this.wanted = filters.length > MAX_FILTERS ? [ALL] : filters;
  }

  private add(event: string): void {
    const size = sizeWithin(event) + 1; // plus a comma
    if (this.size + size > MAX_SIZE) {
      this.missed++;
      return;
    }
    this.size += size;
    this.pending.push(event);
  }

  private flush(): void {
    const { pending, missed } = this;
    [this.pending, this.size, this.missed] = [[], 0, 0];
    if (pending.length > 0 || missed > 0) this.send(`{"events":[${pending.join()}],"missed":${missed}}`);
    this.forgetAsks();
    if (this.asks.size === 0) this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.sharing?.unsubscribe();
    this.sharing = undefined;
  }

  /**
   * Ignores errors: events lost while the store is unavailable do not matter, because the view only shows the present.
   */
  private send(text: string): void {
    this.channel.send(text).catch(() => undefined);
  }
}

/** Parses a text; undefined if it comes from another version, or from another user of the store. */
function readText(text: string): Text | undefined {
  const value = parseJson(text);
  if (!isPlainObject(value)) return undefined;
  if (value.ask === true) {
    const { from, filters } = value;
    return {
      ask: true,
      from: typeof from === 'string' ? from : undefined,
      filters: Array.isArray(filters) && filters.every(isPlainObject) ? filters : undefined,
    };
  }
  const { events, missed } = value;
  if (!Array.isArray(events) || !Number.isSafeInteger(missed)) return undefined;
  return { events: events.filter(isLiveEvent), missed: missed as number };
}

/** Returns the bytes that JSON takes in the text that the channel sends, where quotes and backslashes are escaped. */
function sizeWithin(json: string): number {
  return Buffer.byteLength(json) + (json.match(/["\\]/g)?.length ?? 0);
}
