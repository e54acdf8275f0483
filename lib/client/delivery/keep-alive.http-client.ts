import * as http from 'node:http';
import * as https from 'node:https';
import type { HTTPClient, HTTPClientRequest, HTTPResponse } from './http-client.interface.js';
import { MAX_RESPONSE_BYTES } from './response.body.js';

/** Options of {@link keepAliveHttpClient}. */
export interface KeepAliveOptions {
  /**
   * Connections open at once to one host; requests beyond them wait.
   *
   * @default 16
   */
  maxSockets?: number | undefined;
  /**
   * The agent that holds the connections, for a proxy or certificates of one's own; `maxSockets` is then its own.
   *
   * @default a keep-alive agent of this client
   */
  agent?: http.Agent | undefined;
}

/**
 * An HTTP client on `node:http` and `node:https` with a bounded keep-alive agent, for `httpClient`.
 * It runs on every Node version and costs a fraction of the CPU of global `fetch`.
 */
export function keepAliveHttpClient(options: KeepAliveOptions = {}): HTTPClient {
  const settings = { keepAlive: true, maxSockets: options.maxSockets ?? 16, scheduling: 'lifo' as const };
  let agent = options.agent;
  return {
    makeRequest(request) {
      const { request: start, Agent } = request.url.startsWith('https:') ? https : http;
      agent ??= new Agent(settings);
      return exchange(start, agent, request);
    },
  };
}

/** Makes one request and reads its whole response. */
function exchange(start: typeof http.request, agent: http.Agent, request: HTTPClientRequest): Promise<HTTPResponse> {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(request.body);
    const outgoing = start(request.url, {
      agent,
      method: request.method,
      headers: { ...request.headers, 'Content-Length': body.length },
    });
    const giveUp = () => outgoing.destroy(new Error('The request was aborted'));
    // On Node 14, which has no AbortSignal, nobody else ends a request that hangs.
    const timer = request.signal ? undefined : setTimeout(giveUp, request.httpRequestTimeout);
    request.signal?.addEventListener('abort', giveUp);
    outgoing.on('close', () => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', giveUp);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection just as it was used again: it has not seen the request.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') resolve(exchange(start, agent, request));
      else reject(error);
    });
    outgoing.on('response', (response) => resolve(read(response)));
    outgoing.end(body);
  });
}

function read(response: http.IncomingMessage): Promise<HTTPResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () =>
      resolve({
        status: response.statusCode!,
        statusText: response.statusMessage!,
        headers: response.headers,
        text: () => Promise.resolve(Buffer.concat(chunks).toString()),
      });
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < MAX_RESPONSE_BYTES) return;
      finish();
      response.destroy();
    });
    response.on('end', finish);
    response.on('error', reject);
  });
}
