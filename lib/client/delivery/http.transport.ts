import type { AnalyticsEmitter } from '../event/analytics.emitter.js';
import type { Endpoint } from '../event/endpoint.interface.js';
import type { SerializedMessage } from '../message/serialized-message.js';
import { emitWarning } from '../warning.util.js';
import type { BatchAnswer, BatchTransport, Refusal } from './batch-transport.interface.js';
import type { DeliverySettings } from './delivery-settings.interface.js';
import { createStatusError, readRefusal } from './http-status.util.js';
import type { HTTPClientRequest, HTTPResponse } from './http-client.interface.js';
import { readRejected } from './rejected-events.util.js';
import { readBody } from './response-body.util.js';
import { isDelivered, isRetried, RETRY_HEADER, retryAfterDelay } from './retry-schedule.util.js';

const USER_AGENT = 'nestjs-analytics-relay/1.0';

/** Maximum number of redirects that one attempt follows. */
const MAX_REDIRECTS = 5;

/** Redirects that keep the method and the body. After any other, clients send a GET without events. */
const KEEPS_BODY = new Set([307, 308]);

/**
 * Properties that are made when they are read. They are the request's own, so that a copy has them, and HTTP clients
 * that take only own properties. All requests share the getters: V8 retains what a getter of one object references.
 */
const READ_LATER: PropertyDescriptorMap & ThisType<BatchRequest> = {
  data: {
    enumerable: true,
    get() {
      return (this.parsed ??= JSON.parse(this.body) as Record<string, unknown>);
    },
  },
  // An AbortController costs as much as stringifying several events.
  signal: {
    enumerable: true,
    get() {
      if (!this.controller && typeof AbortController === 'function') {
        this.controller = new AbortController();
        if (this.isAborted) this.controller.abort();
      }
      return this.controller?.signal;
    },
  },
};

/** One attempt to send a batch. */
class BatchRequest implements HTTPClientRequest {
  declare readonly data: Record<string, unknown>;
  declare readonly signal: AbortSignal | undefined;
  readonly method = 'POST';
  isAborted = false;
  controller: AbortController | undefined;
  parsed: Record<string, unknown> | undefined;
  private stop: (() => void) | undefined;

  constructor(
    readonly url: string,
    readonly headers: Record<string, string>,
    readonly body: string,
    readonly httpRequestTimeout: number,
  ) {
    Object.defineProperties(this, READ_LATER);
  }

  onAbort(stop: () => void): void {
    this.stop = stop;
    if (this.isAborted) stop();
  }

  abort(): void {
    this.isAborted = true;
    this.controller?.abort();
    this.stop?.();
  }
}

/** Posts batches to the collection service. */
export class HttpTransport implements BatchTransport {
  readonly envelopeBytes: number;
  readonly endpoint: Endpoint;
  // Private at run time too: inspecting or logging the client never shows the write key.
  readonly #headers: Record<string, string>;
  readonly #secrets: string[];
  readonly #tail: string;
  private hasWarned = false;

  constructor(
    private readonly settings: DeliverySettings,
    writeKey: string,
    private readonly emitter: AnalyticsEmitter,
  ) {
    this.endpoint = { origin: new URL(settings.url).origin, isDefault: settings.isDefaultHost };
    const credentials = Buffer.from(`${writeKey}:`).toString('base64');
    this.#headers = {
      'Content-Type': 'application/json',
      'User-Agent': USER_AGENT,
      Authorization: `Basic ${credentials}`,
    };
    this.#secrets = [writeKey, credentials];
    this.#tail = `],"writeKey":${JSON.stringify(writeKey)},"sentAt":"`;
    this.envelopeBytes = Buffer.byteLength(this.bodyOf(''));
  }

  async send(
    messages: readonly SerializedMessage[],
    attempt: number,
    onAbort: (stop: () => void) => void,
  ): Promise<BatchAnswer> {
    const body = this.bodyOf(messages.map(({ json }) => json).join(','));
    let { url } = this.settings;
    let isAborted = false;
    for (let redirects = 0; ; redirects++) {
      const headers = { ...this.#headers, ...(attempt > 0 && { [RETRY_HEADER]: String(attempt) }) };
      const request = new BatchRequest(url, headers, body, this.settings.httpRequestTimeout);
      onAbort(() => {
        isAborted = true;
        request.abort();
      });
      const { response, text } = await this.exchange(request);
      // An HTTP client that ignores the abort may answer late, when the batch is being sent again.
      const isFollowed = !isAborted && redirects < MAX_REDIRECTS;
      const target = isFollowed ? redirectTarget(url, response) : undefined;
      if (target === undefined) return this.toAnswer(url, response, text);
      if (target.origin !== this.endpoint.origin) return { refusal: this.refuseRedirect(target, response.status) };
      url = target.href;
    }
  }

  /** Makes one request and reads the response. */
  private async exchange(request: BatchRequest): Promise<{ response: HTTPResponse; text: string }> {
    const { emitter } = this;
    const { url, method, headers, body } = request;
    if (emitter.isHeard('http_request')) {
      emitter.emit('http_request', { url, method, headers: { ...headers }, body });
    }
    const response = await this.settings.httpClient.makeRequest(request);
    const text = await readBody(response);
    if (emitter.isHeard('http_response')) {
      const { status, statusText } = response;
      emitter.emit('http_response', { status, statusText, url, headers: lowerCaseNames(response.headers), body: text });
    }
    return { response, text };
  }

  private toAnswer(url: string, response: HTTPResponse, text: string): BatchAnswer {
    if (!isDelivered(response.status)) return { refusal: toRefusal(response, readRefusal(text, this.#secrets)) };
    if (isRedirect(response.status)) this.warnOfRedirect(url, response.status);
    return { rejected: readRejected(text) };
  }

  /** The write key, in the headers and in the body, is for the configured origin alone. */
  private refuseRedirect({ protocol, host }: URL, status: number): Refusal {
    const fault = `a redirect to ${protocol}//${host}, another origin, is not followed with the write key`;
    return {
      reason: createStatusError(status, `${fault}. Set the setting host to where events are to be sent`),
      isRetried: false,
    };
  }

  private warnOfRedirect(url: string, status: number): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    const fault = `${new URL(url).host} answered ${status}, a redirect that is not followed`;
    const advice = 'The events count as delivered, but are probably lost. Check the settings host and path';
    emitWarning(`${fault}. ${advice}`);
  }

  private bodyOf(events: string): string {
    return `{"batch":[${events}${this.#tail}${new Date().toISOString()}"}`;
  }
}

function toRefusal({ status, statusText, headers }: HTTPResponse, text: string | undefined): Refusal {
  return {
    reason: createStatusError(status, statusText, text),
    isRetried: isRetried(status),
    retryAfter: status === 429 ? retryAfterDelay(lowerCaseNames(headers)['retry-after']) : undefined,
  };
}

/** Whether a status is a redirect; 304 is not one. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Returns the URL that a response says to post the batch to instead; undefined if it names none. */
function redirectTarget(url: string, { status, headers }: HTTPResponse): URL | undefined {
  if (!KEEPS_BODY.has(status)) return undefined;
  const { location } = lowerCaseNames(headers);
  if (!location) return undefined;
  try {
    return new URL(location, url);
  } catch {
    return undefined;
  }
}

/** Returns the headers of a response by their lower-case names. */
function lowerCaseNames(headers: HTTPResponse['headers']): Record<string, string> {
  if (!headers) return {};
  const entries =
    typeof headers.entries === 'function' ? (headers.entries as Headers['entries'])() : Object.entries(headers);
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), String(value)]));
}
