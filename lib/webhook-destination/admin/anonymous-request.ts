import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

import type { HttpAdapterHost } from '@nestjs/core';

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

/** Request and response as the HTTP platform passes them to guards. */
type PlatformPair = [request: unknown, response: unknown];

/** Creates a simulated request without credentials, to test a guard; `answered` resolves once it has been answered. */
export function createAnonymousRequest(
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  path: string,
): { platform: PlatformPair; answered: Promise<unknown> } {
  const socket = Object.assign(new PassThrough().resume(), { remoteAddress: ADDRESS }) as unknown as Socket;
  const raw = new IncomingMessage(socket);
  Object.assign(raw, { method: 'POST', url: path });
  Object.assign(raw.headers, HEADERS);
  const response = new ServerResponse(raw);
  response.assignSocket(socket);
  const answered = once(response, 'finish');
  const isFastify = adapter?.getType() === 'fastify';
  return { platform: isFastify ? fastifyPair(raw, response) : expressPair(raw, response, adapter), answered };
}

function expressPair(
  raw: IncomingMessage,
  response: ServerResponse,
  adapter?: HttpAdapterHost['httpAdapter'],
): PlatformPair {
  // An Express application has the prototypes of its requests and responses.
  const express = adapter?.getInstance<{ request?: object; response?: object }>();
  if (express?.request) Object.setPrototypeOf(raw, express.request);
  if (express?.response) Object.setPrototypeOf(response, express.response);
  const request = Object.assign(raw, NOTHING_KNOWN, {
    originalUrl: raw.url,
    baseUrl: '',
    route: { path: raw.url },
    res: response,
    next: () => undefined,
  });
  return [request, Object.assign(response, { locals: {} })];
}

function fastifyPair(raw: IncomingMessage, response: ServerResponse): PlatformPair {
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
  return [request, reply];
}
