import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestError } from './request.error.js';

/**
 * How long the rest of a refused body is read and discarded, in ms: a client that is still sending would miss the
 * answer.
 */
const DISCARD_TIME = 2_000;

/** Answers with JSON, even if the request has not been read completely. */
export function answerJson(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  const json = JSON.stringify(body);
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
