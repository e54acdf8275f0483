import * as http from 'node:http';
import * as https from 'node:https';
import { OptionsError } from '../options.error.js';
import { RelayError } from '../relay.error.js';
import type { HTTPClient, HTTPClientRequest, HTTPResponse } from './http-client.interface.js';
import { connectThroughProxies, usesProxies } from './proxied-agent.js';
import { MAX_RESPONSE_BYTES } from './response-body.util.js';
import { RETRY_HEADER } from './retry-schedule.util.js';

/**
 * Milliseconds after which an idle connection is closed, as by `fetch`: a NAT or load balancer may forget it, and then
 * swallows the next request.
 */
const MAX_IDLE = 4_000;

/** Options of {@link keepAliveHttpClient}. */
export interface KeepAliveOptions {
  /**
   * Maximum number of open connections to one host; further requests wait.
   *
   * @default 16
   */
  maxSockets?: number | undefined;
  /**
   * Agent that holds the connections, for a proxy or custom certificates. If it is set, `maxSockets` is ignored.
   *
   * @default a keep-alive agent of this client
   */
  agent?: http.Agent | undefined;
}

/** An HTTP client that keeps connections open. */
export interface KeepAliveHTTPClient extends HTTPClient {
  /** Closes the connections, except those of a given agent. Later requests open new ones. */
  close(): void;
}

/**
 * Creates an HTTP client for the setting `httpClient`, on `node:http` and `node:https` with a bounded keep-alive agent.
 * It runs on every Node version and uses a fraction of the CPU of global `fetch`. With `NODE_USE_ENV_PROXY=1`, it uses
 * the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in `NO_PROXY`.
 *
 * @throws {OptionsError} when `maxSockets` is neither a positive integer nor `Infinity`, or a proxy is invalid.
 */
export function keepAliveHttpClient(options: KeepAliveOptions = {}): KeepAliveHTTPClient {
  const maxSockets = options.maxSockets ?? 16;
  if (maxSockets !== Infinity && !(Number.isSafeInteger(maxSockets) && maxSockets > 0)) {
    throw new OptionsError('keepAliveHttpClient', ['maxSockets must be an integer, at least 1, or Infinity']);
  }
  const settings = { keepAlive: true, maxSockets, timeout: MAX_IDLE, scheduling: 'lifo' as const };
  const own = options.agent ? [] : [new http.Agent(settings), new https.Agent(settings)];
  if (usesProxies()) own.forEach(connectThroughProxies);
  const [plain = options.agent!, secure = options.agent!] = own;
  return {
    makeRequest(request) {
      // Where one connection is dead, the idle ones usually are as well. A retry therefore opens a new one.
      if (request.headers[RETRY_HEADER]) own.forEach(closeIdle);
      return request.url.startsWith('https:')
        ? exchange(https.request, secure, request)
        : exchange(http.request, plain, request);
    },
    close: () => own.forEach((agent) => agent.destroy()),
  };
}

function closeIdle({ freeSockets }: http.Agent): void {
  for (const sockets of Object.values(freeSockets)) sockets?.forEach((socket) => socket.destroy());
}

/** Makes one request and reads its whole response. */
function exchange(start: typeof http.request, agent: http.Agent, request: HTTPClientRequest): Promise<HTTPResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = start(request.url, {
      agent,
      method: request.method,
      headers: { ...request.headers, 'Content-Length': Buffer.byteLength(request.body) },
    });
    const giveUp = () => outgoing.destroy(new RelayError('request_aborted', 'The request was aborted'));
    if (request.onAbort) {
      request.onAbort(giveUp);
    } else {
      const timer = setTimeout(giveUp, request.httpRequestTimeout);
      outgoing.on('close', () => clearTimeout(timer));
    }
    let isAnswered = false;
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection just as it was reused. If it did receive the request, it deduplicates by
      // messageId.
      const isIdleClosed = !isAnswered && outgoing.reusedSocket && error.code === 'ECONNRESET';
      if (isIdleClosed) resolve(exchange(start, agent, request));
      else reject(error);
    });
    outgoing.on('response', (response) => {
      isAnswered = true;
      resolve(read(response));
    });
    outgoing.end(request.body);
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
