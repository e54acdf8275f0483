import type { LiveEvent, LiveFilter, LiveKind } from '../../lib/webhook-destination/admin/live/live.event.js';
import { get, toUrl } from './api.client.js';

export type { LiveEvent, LiveFilter, LiveKind };

const KINDS: readonly LiveKind[] = ['message', 'duplicate', 'rejected', 'delivered', 'retry', 'dead'];

/** Delay before a refused stream is opened again, in ms. */
const RETRY_AFTER = 5_000;

export interface LiveListener {
  onEvent: (event: LiveEvent) => void;
  /** Called when the relay dropped events. */
  onMissed: (count: number) => void;
  /** @param scope whether the stream has the events of one process or of all that share the queue */
  onOpen: (scope: 'process' | 'queue') => void;
  /** @param isLost whether the relay ended or refused the stream */
  onClosed: (isLost: boolean) => void;
}

/** The only stream of this tab. */
const ofTab: { stream?: LiveStream | undefined } = {};

/** Stream of live events. Closed while the tab is hidden. A new stream closes the previous one of the tab. */
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
    const source = new EventSource(toUrl('events', this.filter));
    this.source = source;
    source.addEventListener('hello', ({ data }: MessageEvent<string>) => {
      this.listener.onOpen((JSON.parse(data) as { scope: 'process' | 'queue' }).scope);
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

  /** The browser reconnects by itself, unless the stream was refused. */
  private onFault(source: EventSource): void {
    this.listener.onClosed(true);
    if (source.readyState !== EventSource.CLOSED || source !== this.source) return;
    this.disconnect(true);
    // The answer to a refused stream cannot be read: if the session has ended, this request waits for the next sign-in.
    void get('session')
      .catch(() => undefined)
      .then(() => {
        if (ofTab.stream === this) this.timer = window.setTimeout(this.followTab, RETRY_AFTER);
      });
  }

  private disconnect(isLost = false): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
    this.listener.onClosed(isLost);
  }
}
