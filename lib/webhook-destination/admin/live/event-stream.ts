import type { ServerResponse } from 'node:http';

import { type LiveEvent, type LiveFilter, passes } from './live.event.js';

/** Bytes that wait for a reader, at most: what comes meanwhile is counted and left out. */
const MAX_WAITING = 256 * 1024;

/** Time between signs of life, in ms: proxies close connections that are silent for a minute. */
const HEARTBEAT = 15_000;

/** How long a stream lasts, in ms: the browser opens another one, and must be let in again. */
const MAX_TIME = 60 * 60 * 1_000;

/** One reader of live events, by server-sent events. */
export class EventStream {
  private missed = 0;
  private readonly timers: NodeJS.Timeout[];

  /** @param onEnd called once the reader has gone, or the stream was ended */
  constructor(
    private readonly response: ServerResponse,
    private readonly filter: LiveFilter,
    onEnd: () => void,
  ) {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-store, no-transform',
      'X-Accel-Buffering': 'no',
      Connection: 'close', // or it would be idle once the stream has ended, and a closing server waits for it
    });
    this.write('hello', { scope: 'process', at: Date.now() });
    this.timers = [setInterval(() => this.beat(), HEARTBEAT).unref(), setTimeout(() => this.end(), MAX_TIME).unref()];
    response.on('drain', () => this.reportMissed());
    response.once('close', () => {
      this.timers.forEach(clearTimeout);
      onEnd();
    });
    response.on('error', () => undefined);
  }

  send(event: LiveEvent): void {
    if (!passes(event, this.filter)) return;
    if (this.response.writableLength > MAX_WAITING) this.missed++;
    else {
      this.reportMissed();
      this.write(event.kind, event);
    }
  }

  end(): void {
    this.reportMissed();
    this.response.end();
  }

  private beat(): void {
    this.reportMissed();
    if (this.response.writableLength === 0) this.response.write(':\n\n');
  }

  private reportMissed(): void {
    if (this.missed === 0 || this.response.writableLength > MAX_WAITING) return;
    const { missed } = this;
    this.missed = 0;
    this.write('missed', { count: missed });
  }

  private write(name: string, data: object): void {
    if (!this.response.writableEnded) this.response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
