import type { ServerResponse } from 'node:http';

import { type LiveEvent, type LiveFilter, passes } from './live.event.js';

/** Bytes that wait for a reader, at most: what comes meanwhile is counted and left out. */
const MAX_WAITING = 256 * 1024;

/** Events that a reader gets in a second, and at once after a pause: more than anybody reads. Others are counted. */
const MAX_RATE = 100;
const MAX_BURST = 500;

/** How long events are gathered, in ms: a write to the socket costs more than an event. */
const GATHERING_TIME = 250;

/** Time between signs of life, in ms: proxies close connections that are silent for a minute. */
const HEARTBEAT = 15_000;

/** How long a stream lasts, in ms: the browser opens another one, and must be let in again. */
const MAX_TIME = 60 * 60 * 1_000;

/** How long a reader has to take the rest once the stream ends, in ms: one that stalled would keep it open. */
const END_TIME = 1_000;

/** One reader of live events, by server-sent events. */
export class EventStream {
  private text = '';
  private missed = 0;
  private allowance = MAX_BURST;
  private allowedAt = performance.now();
  private gathering: NodeJS.Timeout | undefined;
  private readonly timers: NodeJS.Timeout[];

  /**
   * @param scope whose events there are
   * @param onEnd called once the reader has gone, or the stream was ended
   */
  constructor(
    private readonly response: ServerResponse,
    readonly filter: LiveFilter,
    scope: 'process' | 'queue',
    onEnd: () => void,
  ) {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-store, no-transform',
      'X-Accel-Buffering': 'no',
      Connection: 'close', // or it would be idle once the stream has ended, and a closing server waits for it
    });
    response.write(frame('hello', { scope, at: Date.now() }));
    this.timers = [setInterval(() => this.beat(), HEARTBEAT).unref(), setTimeout(() => this.end(), MAX_TIME).unref()];
    response.once('close', () => {
      this.timers.forEach(clearTimeout);
      clearTimeout(this.gathering);
      onEnd();
    });
    response.on('error', () => undefined);
  }

  /**
   * Counts events as missed before they are made, if all of them would be.
   *
   * @returns whether it did
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

  /** Counts events that are left out. */
  miss(count: number): void {
    this.missed += count;
    this.gather();
  }

  end(): void {
    this.flush();
    this.response.end();
    this.timers.push(setTimeout(() => this.response.destroy(), END_TIME).unref());
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

  private beat(): void {
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
