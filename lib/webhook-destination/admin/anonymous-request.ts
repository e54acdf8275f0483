import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

import type { HttpAdapterHost } from '@nestjs/core';

/** The parts of an Express application used here: the prototypes of its requests and responses. */
interface Express {
  request: object;
  response: object;
}

/** Properties that middleware adds to a request, with their values for an anonymous caller. */
const NOTHING_KNOWN = { body: {}, params: {}, cookies: {}, signedCookies: {}, session: {} };

/** An address reserved for documentation (RFC 5737). */
const ADDRESS = '192.0.2.1';

/** Headers that every client sends. Without them a guard might throw, which counts as a refusal. */
const HEADERS = {
  host: 'localhost',
  'user-agent': 'nestjs-analytics-relay',
  accept: '*/*',
  'content-type': 'application/json',
  'content-length': '2',
};

/** Creates a simulated request without credentials, to test a guard. */
export function createAnonymousRequest(
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  path: string,
): {
  /** Request and response as the HTTP platform passes them to guards. */
  platform: [request: unknown, response: unknown];
  /** Resolves once the request has been answered. */
  answered: Promise<unknown>;
} {
  const socket = Object.assign(new PassThrough().resume(), { remoteAddress: ADDRESS }) as unknown as Socket;
  const raw = new IncomingMessage(socket);
  Object.assign(raw, { method: 'POST', url: path });
  Object.assign(raw.headers, HEADERS);
  const response = new ServerResponse(raw);
  response.assignSocket(socket);
  const answered = once(response, 'finish');
  const isFastify = adapter?.getType() === 'fastify';
  const platform = isFastify ? fastifyPair(raw, response) : expressPair(raw, response, adapter?.getInstance<Express>());
  return { platform, answered };
}

function expressPair(raw: IncomingMessage, response: ServerResponse, express: Partial<Express> = {}) {
  if (express.request) Object.setPrototypeOf(raw, express.request);
  if (express.response) Object.setPrototypeOf(response, express.response);
  const request = Object.assign(raw, NOTHING_KNOWN, {
    originalUrl: raw.url,
    baseUrl: '',
    route: { path: raw.url },
    res: response,
    next: () => undefined,
  });
  return [request, Object.assign(response, { locals: {} })] as [unknown, unknown];
}

function fastifyPair(raw: IncomingMessage, response: ServerResponse) {
  const { headers, method, url, socket } = raw;
  const request = {
    raw,
    id: 'probe',
    headers,
    method,
    url,
    originalUrl: url,
    query: {},
    routeOptions: { config: {}, url },
    socket,
    ip: ADDRESS,
    hostname: 'localhost',
    protocol: 'http',
    ips: [],
    log: console,
    ...NOTHING_KNOWN,
  };
  const reply = {
    raw: response,
    request,
    code: (status: number) => ((response.statusCode = status), reply),
    status: (status: number) => reply.code(status),
    header: (name: string, value: string) => (response.setHeader(name, value), reply),
    send: () => (response.end(), reply),
    redirect: () => reply.send(),
    hijack: () => reply,
  };
  return [request, reply] as [unknown, unknown];
}
