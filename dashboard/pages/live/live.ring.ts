import type { LiveEvent, LiveListener } from '../../api/live.stream.js';

/** Number of events kept. */
const RING_SIZE = 500;

/**
 * Minimum time between two renderings, in ms: at thousands of events per second, the page would do nothing but render.
 */
const INTERVAL = 100;

export interface LiveRow {
  /** Consecutive number. */
  id: number;
  event: LiveEvent;
}

/** State that the page shows. */
export interface LiveView {
  isOpen: boolean;
  /** The relay ended or refused the stream, which is opened again. */
  isLost: boolean;
  /** Undefined until the stream was open. */
  scope: 'process' | 'queue' | undefined;
  /** Newest first. */
  rows: LiveRow[];
  /** Events received since the page was opened or the list was emptied. */
  seen: number;
  /** Events that the relay dropped, because they came too fast for this reader. */
  missed: number;
  /** Events received while the page was paused. */
  skipped: number;
  /** Number of times the stream was interrupted; events during an interruption are unknown. */
  gaps: number;
}

export const EMPTY_VIEW: LiveView = {
  isOpen: false,
  isLost: false,
  scope: undefined,
  rows: [],
  seen: 0,
  missed: 0,
  skipped: 0,
  gaps: 0,
};

/** Keeps the last events, and shows them at most every 100 ms, no matter how many arrive. */
export class LiveRing implements LiveListener {
  isPaused = false;
  private view: LiveView;
  private lastId: number;
  private pending: LiveRow[] = [];
  private timer: number | undefined;
  private isClosed = false;

  /** @param before what was shown before Back, which is continued */
  constructor(
    private readonly show: (view: LiveView) => void,
    before: LiveView = EMPTY_VIEW,
  ) {
    this.view = { ...before, isOpen: false };
    this.lastId = before.rows[0]?.id ?? 0;
  }

  readonly onEvent = (event: LiveEvent) => {
    this.view.seen++;
    if (this.isPaused) this.view.skipped++;
    else this.keep(event);
    this.schedule();
  };

  readonly onMissed = (count: number) => {
    this.view.missed += count;
    this.schedule();
  };

  readonly onOpen = (scope: LiveView['scope']) => {
    const gaps = this.view.gaps + (this.view.scope ? 1 : 0);
    this.view = { ...this.view, isOpen: true, isLost: false, scope, gaps };
    this.schedule();
  };

  readonly onClosed = (isLost: boolean) => {
    this.view = { ...this.view, isOpen: false, isLost };
    this.schedule();
  };

  /** Clears the events and the counts. */
  clear(): void {
    const { isOpen, isLost, scope } = this.view;
    this.view = { ...EMPTY_VIEW, isOpen, isLost, scope };
    this.pending = [];
    this.schedule();
  }

  /** Stops showing events. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private keep(event: LiveEvent): void {
    this.pending.push({ id: ++this.lastId, event });
    if (this.pending.length >= 2 * RING_SIZE) this.pending = this.pending.slice(-RING_SIZE);
  }

  private schedule(): void {
    if (this.isClosed) return;
    this.timer ??= window.setTimeout(() => requestAnimationFrame(() => this.flush()), INTERVAL);
  }

  private flush(): void {
    this.timer = undefined;
    if (this.isClosed) return;
    const rows = [...this.pending.reverse(), ...this.view.rows].slice(0, RING_SIZE);
    this.pending = [];
    this.view = { ...this.view, rows };
    this.show(this.view);
  }
}
