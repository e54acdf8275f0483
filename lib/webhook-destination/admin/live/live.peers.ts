import { filter, map, type Observable, type Subscription, using } from 'rxjs';

import { isPlainObject } from '../../../client/message/message.rules.js';
import { parseJson } from '../../../common/value.util.js';
import { MAX_PEER_TEXT, type PeerChannel } from '../../queue/peer-channel.interface.js';
import { isLiveEvent, type LiveEvent } from './live.event.js';

/** Time between two requests for events, in ms. */
const ASK_INTERVAL = 5_000;

/** How long a process sends its events after a request, in ms. */
const SHARE_TIME = 2.5 * ASK_INTERVAL;

/** Time between two texts of a process, in ms; so the bytes of a text bound what it sends. */
const SEND_INTERVAL = 100;

/** Events of another process, and the number of those that it left out. */
export interface PeerEvents {
  events: LiveEvent[];
  missed: number;
}

type Text = { ask: true } | PeerEvents;

/** Lets processes that share a queue see each other's live events, while somebody watches. */
export class LivePeers {
  /** Events of other processes, which are asked for them as long as somebody subscribes. */
  readonly events$: Observable<PeerEvents>;
  private readonly received$: Observable<Text>;
  private asked: Subscription | undefined;
  private sharing: Subscription | undefined;
  private shareUntil = 0;
  private pending: string[] = [];
  private size = 0;
  private missed = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param own$ events of this process */
  constructor(
    private readonly channel: PeerChannel,
    private readonly own$: Observable<LiveEvent>,
  ) {
    this.received$ = channel.received$.pipe(
      map(readText),
      filter((text) => text !== undefined),
    );
    const answers$ = this.received$.pipe(filter((text) => 'events' in text));
    this.events$ = using(
      () => {
        this.tell({ ask: true });
        const timer = setInterval(() => this.tell({ ask: true }), ASK_INTERVAL).unref();
        return { unsubscribe: () => clearInterval(timer) };
      },
      () => answers$,
    );
  }

  /** Answers others from now on. Comes once the queue is open. */
  open(): void {
    this.asked = this.received$.subscribe((text) => {
      if ('ask' in text) this.share();
    });
  }

  close(): void {
    this.asked?.unsubscribe();
    this.stop();
  }

  private share(): void {
    this.shareUntil = performance.now() + SHARE_TIME;
    if (this.sharing) return;
    this.sharing = this.own$.subscribe((event) => this.add(JSON.stringify(event)));
    this.timer = setInterval(() => this.flush(), SEND_INTERVAL).unref();
  }

  private add(event: string): void {
    const size = Buffer.byteLength(JSON.stringify(event)); // as it is within the text that the channel sends
    if (this.size + size > MAX_PEER_TEXT - 200) {
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
    if (performance.now() > this.shareUntil) this.stop();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.sharing?.unsubscribe();
    this.sharing = undefined;
  }

  private tell(text: Text): void {
    this.send(JSON.stringify(text));
  }

  /** What is lost while the store is unavailable is not missed: the view is of what happens now. */
  private send(text: string): void {
    this.channel.send(text).catch(() => undefined);
  }
}

/** What a text says; undefined for one of another version, or from something else on the store. */
function readText(text: string): Text | undefined {
  const value = parseJson(text);
  if (!isPlainObject(value)) return undefined;
  if (value.ask === true) return { ask: true };
  const { events, missed } = value;
  if (!Array.isArray(events) || !Number.isSafeInteger(missed)) return undefined;
  return { events: events.filter(isLiveEvent), missed: missed as number };
}
