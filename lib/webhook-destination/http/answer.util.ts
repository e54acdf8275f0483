import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { MAX_BODY_BYTES } from './body.reader.js';
import type { RequestError } from './request.error.js';

/**
 * How long the rest of a refused body is read and discarded, in ms: a client that is still sending would miss the
 * answer.
 */
const DISCARD_TIME = 2_000;

/** Generous estimate of what Node keeps for a request until its answer has been sent, in bytes. */
const REQUEST_BYTES = 16_384;

/**
 * Maximum bytes that may wait on a connection behind the request answered next: one of the largest bodies, or 32 small
 * ones.
 */
const MAX_BYTES = MAX_BODY_BYTES + REQUEST_BYTES;

/** Bytes that wait on each connection. */
const waiting = new WeakMap<Socket, number>();

/**
 * Returns whether a request may be handled. A client may send requests without waiting for answers (pipelining). One
 * that sends too many, or never reads the answers, would fill the memory: its connection is closed, and the request
 * must be ignored.
 */
export function admitRequest(request: IncomingMessage, response: ServerResponse): boolean {
  const { socket } = request;
  if (socket?.destroyed) return false;
  // A response has no socket while an earlier response is pending.
  if (response.socket !== null || !socket) return true;
  const weight = REQUEST_BYTES + bodyBytes(request);
  const bytes = (waiting.get(socket) ?? 0) + weight;
  if (bytes > MAX_BYTES) {
    socket.destroy();
    return false;
  }
  waiting.set(socket, bytes);
  response.once('close', () => waiting.set(socket, waiting.get(socket)! - weight));
  return true;
}

/** Returns the maximum size of the body according to the request's head, in bytes. */
function bodyBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_BODY_BYTES;
  return Math.min(Number(headers['content-length'] ?? 0), MAX_BODY_BYTES);
}

/** Answers with JSON, even if the request has not been read completely. */
export function answerJson(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  answerText(request, response, status, JSON.stringify(body));
}

/** As {@link answerJson}, with a body that is JSON already. */
export function answerText(request: IncomingMessage, response: ServerResponse, status: number, json: string): void {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(json) };
  // A request without a socket, as in a serverless runtime, is never `complete`.
  if (request.complete || request.readableEnded) {
    response.writeHead(status, headers).end(json);
  } else {
    response.shouldKeepAlive = false;
    answerEarly(request, response.writeHead(status, headers), json);
  }
}

/** Answers with the rule that was broken, one turn later, so a body that came with the head is read first. */
export function answerError(request: IncomingMessage, response: ServerResponse, error: RequestError): void {
  const { status, code, message, field, retryAfter } = error;
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
  const answer = () => answerJson(request, response, status, { code, message, field });
  if (request.complete) answer();
  else setImmediate(answer);
}

/**
 * Answers before the body is read, and discards the body: closing the connection while a client sends loses the answer.
 */
function answerEarly(request: IncomingMessage, response: ServerResponse, json: string): void {
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DISCARD_TIME).unref();
  response.write(json);
  request.once('end', end).once('close', end).resume();
}
