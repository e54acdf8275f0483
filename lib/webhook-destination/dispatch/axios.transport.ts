import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex, Readable } from 'node:stream';

import type { HttpService } from '@nestjs/axios';
import { firstValueFrom } from 'rxjs';
import type { buildConnector } from 'undici';

import {
  MAX_RESPONSE_BYTES,
  type WebhookRequest,
  type WebhookResponse,
  WebhookTimeoutError,
  type WebhookTransport,
} from './webhook-transport.interface.js';
import type { WebhookTarget } from './webhook.target.js';

const asItIs = (data: unknown): unknown => data;

/** The transport through the application's `HttpService`, with its interceptors and its proxy. */
export class AxiosTransport implements WebhookTransport {
  private readonly url: string;
  private readonly agent: HttpAgent;

  /** @param timeout longest exchange, in ms */
  constructor(
    private readonly http: HttpService,
    { origin, path }: WebhookTarget,
    connect: buildConnector.connector,
    private readonly timeout: number,
  ) {
    this.url = origin + path;
    const Agent = origin.startsWith('https:') ? guarded(HttpsAgent, connect) : guarded(HttpAgent, connect);
    // A request waits until the answer before it has given the connection back.
    this.agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  post({ headers, body }: WebhookRequest, waited: number): Promise<WebhookResponse> {
    return new Promise((resolve, reject) => {
      const abort = new AbortController();
      const deadline = setTimeout(() => {
        reject(new WebhookTimeoutError(this.timeout));
        abort.abort();
      }, this.timeout - waited);
      void this.exchange(headers, body, abort.signal)
        .then(resolve, reject)
        .finally(() => clearTimeout(deadline));
    });
  }

  close(): Promise<void> {
    this.agent.destroy();
    return Promise.resolve();
  }

  /** All that the exchange depends on is set here, whatever the application's defaults are. */
  private async exchange(headers: Record<string, string>, data: Buffer, signal: AbortSignal): Promise<WebhookResponse> {
    const response = await firstValueFrom(
      this.http.request<Readable>({
        url: this.url,
        allowAbsoluteUrls: true,
        method: 'post',
        headers,
        data,
        signal,
        adapter: 'http',
        httpAgent: this.agent,
        httpsAgent: this.agent,
        timeout: 0,
        maxRedirects: 0,
        validateStatus: () => true,
        transformRequest: asItIs,
        transformResponse: asItIs,
        responseType: 'stream',
        decompress: false,
        maxContentLength: Infinity,
      }),
    );
    await drain(response.data);
    const retryAfter: unknown = response.headers['retry-after'];
    return { status: response.status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
  }
}

/** An agent whose connections are made by the connector. */
function guarded(Base: typeof HttpAgent, connect: buildConnector.connector): new (options: AgentOptions) => HttpAgent {
  return class extends Base {
    override createConnection(
      { host, port, protocol, servername }: ClientRequestArgs & { servername?: string },
      callback: (error: Error | null, socket: Duplex) => void,
    ): undefined {
      const options = { hostname: host ?? '', protocol: protocol ?? 'http:', port: String(port), servername };
      connect(options, (...[error, socket]) => callback(error, socket as Duplex));
    }
  };
}

/** Reads a body to its end, or to the bound. */
async function drain(body: Readable): Promise<void> {
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) break;
  }
}
