import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';

import { errorMessage } from '../client/error.util.js';

/** Headers of one connection, or that Node sets. */
const NOT_FORWARDED =
  /^(connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Passes a webhook on to a URL, and answers with its answer: 502 if there is none. */
export function forwardWebhook(
  url: string,
  { headers: received }: IncomingMessage,
  rawBody: Buffer,
  response: ServerResponse,
): void {
  const send = /^https:/i.test(url) ? httpsRequest : httpRequest;
  const headers = { ...endToEnd(received), 'content-length': rawBody.length };
  const forwarded = send(url, { method: 'POST', headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer.headers));
    answer.once('error', () => response.destroy()).pipe(response);
  });
  forwarded.once('error', (error) => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, toReason(error)).end();
  });
  response.once('close', () => forwarded.destroy());
  forwarded.end(rawBody);
}

function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.test(name)));
}

/** A reason phrase may only have visible ASCII and spaces. */
function toReason(error: unknown): string {
  return `no answer from --forward: ${errorMessage(error)}`.replace(/[^ -~]/g, '?');
}
