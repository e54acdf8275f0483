import type { LIVE_FILTERS, LIVE_KINDS, LiveEvent } from '../../webhook-destination/admin/live/live.event.js';
import { get, toUrl } from './api.client.js';

export type { LiveEvent };

export type LiveFilter = Partial<Record<(typeof LIVE_FILTERS)[number], string>>;

const KINDS: readonly (typeof LIVE_KINDS)[number][] = ['message', 'rejected', 'delivered', 'retry', 'dead'];

/** Time until a refused stream is opened again, in ms. */
const RETRY_AFTER = 5_000;

export interface LiveListener {
  onEvent: (event: LiveEvent) => void;
  /** Events were left out. */
  onMissed: (count: number) => void;
  /** @param scope whose events there are, once the stream is open */
  onState: (state: 'open' | 'closed' | 'connecting', scope?: 'process' | 'queue') => void;
}

/** The one stream of this tab. */
const ofTab: { stream?: LiveStream | undefined } = {};

/** Events as they happen. It is closed while the tab is hidden, and ends another one of this tab. */
export class LiveStream {
  private source: EventSource | undefined;
  private timer: number | undefined;

  constructor(
    private readonly filter: LiveFilter,
    private readonly listener: LiveListener,
  ) {
    ofTab.stream?.close();
    ofTab.stream = this;
    document.addEventListener('visibilitychange', this.followTab);
    this.followTab();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.followTab);
    this.disconnect();
    if (ofTab.stream === this) ofTab.stream = undefined;
  }

  private readonly followTab = () => {
    if (document.hidden) this.disconnect();
    else if (!this.source) this.connect();
  };

  private connect(): void {
    this.listener.onState('connecting');
    const source = new EventSource(toUrl('events', this.filter));
    this.source = source;
    source.addEventListener('hello', ({ data }: MessageEvent<string>) => {
      this.listener.onState('open', (JSON.parse(data) as { scope: 'process' | 'queue' }).scope);
    });
    source.addEventListener('missed', ({ data }: MessageEvent<string>) => {
      this.listener.onMissed((JSON.parse(data) as { count: number }).count);
    });
    for (const kind of KINDS) {
      source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
        this.listener.onEvent(JSON.parse(data) as LiveEvent);
      });
    }
    source.onerror = () => this.onFault(source);
  }

  /** The browser connects again by itself, unless the stream was refused. */
  private onFault(source: EventSource): void {
    this.listener.onState('connecting');
    if (source.readyState !== EventSource.CLOSED || source !== this.source) return;
    this.disconnect();
    this.listener.onState('connecting');
    // The answer to a stream cannot be read: a session that has ended shows by this one.
    void get('session').catch(() => undefined);
    this.timer = window.setTimeout(this.followTab, RETRY_AFTER);
  }

  private disconnect(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
    this.listener.onState('closed');
  }
}
