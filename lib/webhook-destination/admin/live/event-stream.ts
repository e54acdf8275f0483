import type { ServerResponse } from 'node:http';

import { firstValueFrom, fromEvent, merge, Subject } from 'rxjs';

import { type LiveEvent, type LiveFilter, passes } from './live.event.js';

/** Maximum number of bytes waiting for a reader. Events above it are dropped and counted. */
const MAX_WAITING = 256 * 1024;

/**
 * Events sent to a reader per second, and at once after a pause: more than anyone can read. Others are only counted.
 */
const MAX_RATE = 100;
const MAX_BURST = 500;

/** Time for which events are gathered before a write, in ms: a write to the socket costs more than an event. */
const GATHERING_TIME = 250;

/** Heartbeat interval, in ms: proxies close connections that are silent for a minute. */
const HEARTBEAT = 15_000;

/** Maximum lifetime of a stream, in ms: the browser then opens another one, which is authenticated again. */
const MAX_TIME = 60 * 60 * 1_000;

/** Time a reader has to receive the rest once the stream ends, in ms: a stalled reader would keep the stream open. */
const END_TIME = 1_000;

/** Stream of live events to one reader, as server-sent events. */
export class EventStream {
  /** Resolves once the reader has disconnected or the stream has ended. */
  readonly closed: Promise<unknown>;
  private readonly ended$ = new Subject<void>();
  private text = '';
  private missed = 0;
  private allowance = MAX_BURST;
  private allowedAt = performance.now();
  private gathering: NodeJS.Timeout | undefined;
  private readonly timers: NodeJS.Timeout[];

  /** @param scope whether the events come from this process or from all processes that share the queue */
  constructor(
    private readonly response: ServerResponse,
    readonly filter: LiveFilter,
    scope: 'process' | 'queue',
  ) {
    response.shouldKeepAlive = false; // an ended stream would leave the connection idle, and a closing server waits for it
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    response.write(frame('hello', { scope, at: Date.now() }));
    this.timers = [
      setInterval(() => this.sendHeartbeat(), HEARTBEAT).unref(),
      setTimeout(() => this.end(), MAX_TIME).unref(),
    ];
    // A response behind another one on its connection emits no `close`, whether its client leaves or it is destroyed.
    const closes = [response, response.req.socket].map((emitter) => fromEvent(emitter, 'close'));
    this.closed = firstValueFrom(merge(...closes, this.ended$));
    void this.closed.then(() => {
      this.timers.forEach(clearTimeout);
      clearTimeout(this.gathering);
    });
    response.on('error', () => undefined);
  }

  /**
   * If all of the events would be dropped, counts them as missed before they are even created.
   *
   * @returns whether the events were counted as missed
   */
  skips(count: number): boolean {
    const isFiltered = Object.keys(this.filter).length > 0;
    if (isFiltered) return false;
    this.gather();
    if (!this.isFull) return false;
    this.missed += count;
    return true;
  }

  send(event: LiveEvent): void {
    if (!passes(event, this.filter)) return;
    this.gather();
    if (this.isFull) this.missed++;
    else {
      this.allowance--;
      this.text += frame(event.kind, event);
    }
  }

  /** Counts events dropped elsewhere. */
  miss(count: number): void {
    this.missed += count;
    this.gather();
  }

  end(): void {
    this.flush();
    this.response.end();
    const leave = () => {
      this.response.destroy();
      this.ended$.next();
    };
    this.timers.push(setTimeout(leave, END_TIME).unref());
  }

  private get isFull(): boolean {
    return this.allowance < 1 || this.response.writableLength + this.text.length > MAX_WAITING;
  }

  private gather(): void {
    if (this.gathering) return;
    const now = performance.now();
    this.allowance = Math.min(MAX_BURST, this.allowance + ((now - this.allowedAt) / 1_000) * MAX_RATE);
    this.allowedAt = now;
    this.gathering = setTimeout(() => this.flush(), GATHERING_TIME).unref();
  }

  private sendHeartbeat(): void {
    if (this.response.writableLength === 0 && this.text === '') this.response.write(':\n\n');
  }

  private flush(): void {
    clearTimeout(this.gathering);
    this.gathering = undefined;
    const isSlow = this.response.writableLength > MAX_WAITING;
    if (this.missed > 0 && !isSlow) {
      this.text += frame('missed', { count: this.missed });
      this.missed = 0;
    }
    if (this.text !== '' && !this.response.writableEnded) this.response.write(this.text);
    this.text = '';
    if (this.missed > 0) this.gather();
  }
}

function frame(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
