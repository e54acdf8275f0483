import type { HTTPClientRequest } from './http-client.interface.js';

/**
 * One attempt to send a batch.
 *
 * A class, because V8 keeps the maps of object literals with getters, and so what their closures refer to.
 */
export class BatchRequest implements HTTPClientRequest {
  readonly method = 'POST';
  private isAborted = false;
  private controller: AbortController | undefined;
  private stop: (() => void) | undefined;

  constructor(
    readonly url: string,
    readonly headers: Record<string, string>,
    readonly body: string,
    readonly httpRequestTimeout: number,
  ) {}

  get data(): Record<string, unknown> {
    return JSON.parse(this.body) as Record<string, unknown>;
  }

  // Made on first use: an AbortController costs as much as stringifying several events.
  get signal(): AbortSignal | undefined {
    if (!this.controller && typeof AbortController === 'function') {
      this.controller = new AbortController();
      if (this.isAborted) this.controller.abort();
    }
    return this.controller?.signal;
  }

  onAbort(stop: () => void): void {
    this.stop = stop;
    if (this.isAborted) stop();
  }

  /** Tells the HTTP client to stop. */
  abort(): void {
    this.isAborted = true;
    this.controller?.abort();
    this.stop?.();
  }
}
