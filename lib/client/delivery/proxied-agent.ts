import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket } from 'node:net';

import { errorMessage } from '../error.util.js';
import { throwFaults } from '../options.error.js';
import { RelayError } from '../relay.error.js';
import { environmentProxy, findInvalidVariables } from './proxy-environment.util.js';

/** Milliseconds that a proxy has to connect. */
const CONNECT_TIMEOUT = 10_000;

type OnSocket = (error: Error | null, socket?: Socket) => void;

/** The part of Node's agents that types leave out. */
interface Connector {
  createConnection(options: { host: string; port: number; socket?: Socket }, onSocket?: OnSocket): Socket | undefined;
}

/** Whether requests go through the proxies of the environment, as `fetch` and the global agents of Node 24 do. */
export const usesProxies = (): boolean => process.env.NODE_USE_ENV_PROXY === '1';

/** Whether the global `fetch` uses the proxies of the environment. */
export const isFetchProxied = (): boolean => process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

/**
 * Makes an agent connect through the proxies of the environment, by `CONNECT` for http and https.
 *
 * @throws {OptionsError} that names a variable without the URL of a proxy.
 */
export function connectThroughProxies(agent: http.Agent): void {
  throwFaults(
    'keepAliveHttpClient',
    findInvalidVariables().map((name) => `${name} must be the http or https URL of a proxy`),
  );
  const proxyFor = environmentProxy((url) => new URL(url));
  const protocol = agent instanceof https.Agent ? 'https:' : 'http:';
  const connector = agent as unknown as Connector;
  const connect = connector.createConnection.bind(agent);
  connector.createConnection = (options, onSocket) => {
    const { host, port } = options;
    const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const proxy = proxyFor(new URL(`${protocol}//${authority}`));
    if (!proxy) return connect(options, onSocket);
    tunnel(proxy, authority, (error, socket) => {
      if (error || protocol === 'http:') onSocket!(error, socket);
      else onSocket!(null, connect({ ...options, socket: socket! }));
    });
    return undefined;
  };
}

/** Opens a connection to `authority` through the proxy. */
function tunnel(proxy: URL, authority: string, onSocket: OnSocket): void {
  const fail = (reason: string) => {
    const message = `The proxy ${proxy.origin} could not connect to ${authority}: ${reason}`;
    onSocket(new RelayError('proxy_failed', message));
  };
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const request = (proxy.protocol === 'https:' ? https.request : http.request)(proxy.origin, {
    method: 'CONNECT',
    path: authority,
    headers: { Host: authority, ...(credentials !== ':' && { 'Proxy-Authorization': authorization }) },
    agent: false,
    timeout: CONNECT_TIMEOUT,
  });
  request.on('connect', ({ statusCode = 0 }: http.IncomingMessage, socket: Socket) => {
    socket.setTimeout(0);
    if (statusCode >= 200 && statusCode < 300) return onSocket(null, socket);
    socket.destroy();
    fail(`it answered ${statusCode}`);
  });
  request.on('timeout', () => request.destroy(new Error(`it took longer than ${CONNECT_TIMEOUT / 1_000} s`)));
  request.on('error', (error) => fail(errorMessage(error)));
  request.end();
}
