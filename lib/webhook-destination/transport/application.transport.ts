import type { HttpService } from '@nestjs/axios';
import type { AxiosAdapter, AxiosRequestConfig } from 'axios';
import { lastValueFrom } from 'rxjs';

import { RelayError } from '../../client/relay.error.js';
import { untraced } from '../../client/telemetry/trace-context.js';
import { ClosedError } from '../../common/relay.errors.js';
import { isReserved } from './header.rules.js';
import type {
  TargetRequest,
  TargetResponse,
  TargetTransport,
  WebhookRequest,
  WebhookResponse,
  WebhookTransport,
} from './webhook-transport.interface.js';

/** Runs the application's code for each request, and ends the request at the deadline and at shutdown. */
export class BoundedTransport implements TargetTransport {
  private end: (reason: Error) => void = () => undefined;

  /** @param release closes the transport's resources */
  constructor(
    private readonly transport: WebhookTransport,
    private readonly url: string,
    private readonly release: () => Promise<void> = () => Promise.resolve(),
  ) {}

  async post({ headers, body }: TargetRequest): Promise<TargetResponse> {
    const abort = new AbortController();
    const ended = new Promise<never>((_resolve, reject) => {
      this.end = (reason) => {
        reject(reason);
        abort.abort(reason);
      };
    });
    try {
      const request = { url: this.url, headers: { ...headers }, body, signal: abort.signal };
      const answer = await Promise.race([untraced(() => this.transport.post(request)), ended]);
      if (Number.isInteger(answer?.status))
        return answer.body instanceof Uint8Array ? withHeaders(answer, headers) : answer;
      throw new RelayError('transport_failed', 'the transport resolved without a status');
    } finally {
      this.end = () => undefined;
    }
  }

  close(reason: Error = new ClosedError('the application closed')): Promise<void> {
    this.end(reason);
    return this.release();
  }
}

/** Adds the headers that were sent, unless the answer has them. Fields are named, because an application's may be getters. */
function withHeaders(answer: TargetResponse, sent: Record<string, string>): TargetResponse {
  const { status, headers, body } = answer;
  return answer.sent ? answer : { status, headers, body, sent };
}

/** Default headers of an `HttpService` that may be credentials for another service. */
const NOT_INHERITED = { Authorization: null, Cookie: null, 'Proxy-Authorization': null };

const asItIs = (data: unknown): unknown => data;

/**
 * Runs the interceptors of an `HttpService` around requests to one URL. The requests use the relay's own connections:
 * no axios setting decides where or how they are sent.
 */
export class AxiosTransport implements WebhookTransport {
  constructor(
    private readonly http: HttpService,
    private readonly connections: TargetTransport,
  ) {}

  async post({ url, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    let exchange: Promise<WebhookResponse> | undefined;
    const adapter: AxiosAdapter = async (config) => {
      signal.throwIfAborted();
      exchange = this.connections.post({ headers: { ...added(config.headers.toJSON(), headers), ...headers }, body });
      const answer = await exchange;
      return { status: answer.status, statusText: '', headers: answer.headers as object, data: '', config };
    };
    const config = {
      url,
      method: 'post',
      headers: { ...NOT_INHERITED, ...headers },
      data: body,
      signal,
      adapter,
      transformRequest: asItIs,
      transformResponse: asItIs,
    };
    try {
      await lastValueFrom(this.http.request(config as AxiosRequestConfig));
    } catch (error) {
      if (!exchange) throw error;
    }
    if (!exchange)
      throw new RelayError('transport_failed', 'an interceptor of the HttpService did not send the request');
    // The receiver's answer counts, not what interceptors return.
    return exchange;
  }
}

/** Returns the headers that neither the relay nor the connection sets. */
function added(given: object, own: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => !names.has(name.toLowerCase()) && !isReserved(name))
      .map(([name, value]) => [name, String(value)]),
  );
}
