import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

import type { HttpAdapterHost } from '@nestjs/core';

import { OptionsError } from '../../common/options.error.js';
import { within } from '../../common/promise.util.js';
import type { PlatformPair } from '../http/http.mount.js';
import type { ApplicationGuard } from './application.guard.js';

/** Time limit for a guard to refuse a request, in ms. */
const PROBE_TIME = 5_000;

/** Properties that middleware adds to a request, with their values for an anonymous caller. */
const NOTHING_KNOWN = { body: {}, params: {}, cookies: {}, signedCookies: {}, session: {} };

/** An address reserved for documentation (RFC 5737). */
const ADDRESS = '192.0.2.1';

/** Headers that every client sends. Without them a guard might throw, which counts as a refusal. */
const HEADERS = { host: 'localhost', 'user-agent': 'nestjs-analytics-relay', accept: '*/*' };

/** Headers of a request with a body. */
const BODY_HEADERS = { 'content-type': 'application/json', 'content-length': '2' };

/**
 * Tests the guard with anonymous requests, to all routes at a time. Guards that read metadata, such as the `RolesGuard`
 * of Nest's documentation, find none outside the application's controllers, and many then admit everyone.
 *
 * @param routes methods and paths
 * @throws {OptionsError} if the guard admits one of them or does not answer.
 */
export async function probeGuard(
  guard: ApplicationGuard,
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  routes: [method: string, path: string][],
): Promise<void> {
  await Promise.all(routes.map(([method, path]) => probeRoute(guard, adapter, method, path)));
}

async function probeRoute(
  guard: ApplicationGuard,
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  method: string,
  path: string,
): Promise<void> {
  const { platform, answered } = createAnonymousRequest(adapter, method, path);
  const admitted = guard.ask(platform).then(
    () => true,
    () => false, // any error counts as a refusal
  );
  const decided = Promise.race([admitted, answered.then(() => false)]);
  const isOpen = await within(PROBE_TIME, decided, 'admin.guard').catch(() => {
    throw fault(`must answer an anonymous request within ${PROBE_TIME / 1_000} s`);
  });
  if (isOpen) {
    throw fault(
      `must refuse an anonymous request, but admitted one (${method} ${path}). A guard that reads roles from metadata ` +
        'finds none on the admin routes: use one that checks only the caller',
    );
  }
}

const fault = (rule: string) => new OptionsError('WebhookDestinationModule', [`admin.guard ${rule}`]);

/** Creates a simulated request without credentials, to test a guard; `answered` resolves once it has been answered. */
function createAnonymousRequest(
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  method: string,
  path: string,
): { platform: PlatformPair; answered: Promise<unknown> } {
  const socket = Object.assign(new PassThrough().resume(), { remoteAddress: ADDRESS }) as unknown as Socket;
  const raw = new IncomingMessage(socket);
  Object.assign(raw, { method, url: path });
  Object.assign(raw.headers, HEADERS, method === 'GET' ? {} : BODY_HEADERS);
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
