import type { AnalyticsEmitter } from '../event/analytics.emitter.js';
import { RelayError } from '../relay.error.js';
import type { Batch } from './batch.js';
import { BatchRequest } from './batch-request.js';
import type { HTTPClient, HTTPResponse } from './http-client.interface.js';
import type { RequestWriter } from './request.writer.js';
import { readBody } from './response-body.util.js';
import { backoffDelay, isDelivered, isRetried, retryAfterDelay } from './retry.schedule.js';

/** How often `Retry-After` may postpone a batch before that uses up retries. */
const MAX_RATE_LIMITED = 20;

/** Where and how batches are sent. */
export interface BatchPublisherSettings {
  url: string;
  maxRetries: number;
  httpRequestTimeout: number;
  disable: boolean;
  httpClient: HTTPClient;
}

/** Sends batches, and retries them after a retryable error. */
export class BatchPublisher {
  /** The moment that the receiver's `Retry-After` names: no request is made before it. */
  private resumeAt = 0;

  constructor(
    private readonly settings: BatchPublisherSettings,
    private readonly writer: RequestWriter,
    private readonly emitter: AnalyticsEmitter,
  ) {}

  /** Size of a body without its events. */
  get envelopeBytes(): number {
    return Buffer.byteLength(this.writer.body(''));
  }

  /** Delivers a batch. Never rejects: resolves with the reason it was not delivered, or undefined where it was. */
  async send(batch: Batch): Promise<unknown> {
    if (this.settings.disable) return undefined;
    const events = batch.events.map((event) => event.json).join(',');
    let retries = 0;
    for (let attempt = 0; ; attempt++) {
      let reason: unknown;
      try {
        await this.untilResumed(batch);
        const response = await this.exchange(batch, events, attempt);
        if (isDelivered(response.status)) return undefined;
        reason = new RelayError('http_status', `[${response.status}] ${response.statusText}`);
        if (!isRetried(response.status)) return reason;
        if (this.isPostponed(response) && attempt - retries < MAX_RATE_LIMITED) continue;
      } catch (error) {
        reason = error ?? new RelayError('http_client_failed', 'The HTTP client rejected without an error');
      }
      if (retries++ === this.settings.maxRetries) return reason;
      const outcome = await this.sleep(batch, backoffDelay(retries)).catch((error: unknown) => error);
      if (outcome) return outcome;
    }
  }

  /** Whether the receiver named the moment of the next attempt; the whole instance then waits. */
  private isPostponed({ status, headers }: HTTPResponse): boolean {
    const delay = status === 429 ? retryAfterDelay(lowerCaseNames(headers)['retry-after']) : undefined;
    if (delay === undefined) return false;
    this.resumeAt = Math.max(this.resumeAt, Date.now() + delay);
    return true;
  }

  private async untilResumed(batch: Batch): Promise<void> {
    for (let wait = this.resumeAt - Date.now(); wait > 0; wait = this.resumeAt - Date.now()) {
      await this.sleep(batch, wait);
    }
  }

  private sleep(batch: Batch, ms: number): Promise<void> {
    return batch.run<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      return () => clearTimeout(timer);
    });
  }

  /** Makes one request and reads its response, both within `httpRequestTimeout`. */
  private exchange(batch: Batch, events: string, attempt: number): Promise<HTTPResponse> {
    const { url, httpRequestTimeout } = this.settings;
    const body = this.writer.body(events);
    const headers = this.writer.headers(attempt);
    const request = new BatchRequest(url, headers, body, httpRequestTimeout);
    if (this.emitter.isHeard('http_request')) {
      this.emitter.emit('http_request', { url, method: 'POST', headers: { ...headers }, body });
    }
    return batch.run((resolve, reject) => {
      const message = `The request took longer than ${httpRequestTimeout} ms`;
      const timer = setTimeout(() => reject(new RelayError('request_timeout', message)), httpRequestTimeout);
      let isUnderWay = true;
      void this.request(request)
        .finally(() => (isUnderWay = false))
        .then(resolve, reject);
      return () => {
        clearTimeout(timer);
        if (isUnderWay) request.abort();
      };
    });
  }

  private async request(request: BatchRequest): Promise<HTTPResponse> {
    const response = await this.settings.httpClient.makeRequest(request);
    const body = await readBody(response);
    if (this.emitter.isHeard('http_response')) {
      const { status, statusText } = response;
      const headers = lowerCaseNames(response.headers);
      this.emitter.emit('http_response', { status, statusText, url: request.url, headers, body });
    }
    return response;
  }
}

function lowerCaseNames(headers: HTTPResponse['headers']): Record<string, string> {
  if (!headers) return {};
  const entries =
    typeof headers.entries === 'function' ? (headers.entries as Headers['entries'])() : Object.entries(headers);
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), String(value)]));
}
