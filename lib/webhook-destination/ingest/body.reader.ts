import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { MAX_BATCH_BYTES } from '../../client/message/message.limits.js';
import { BodyBuffer } from './body-buffer.util.js';
import { RequestError } from './request.error.js';
import { isDeeperThan, MAX_DEPTH } from './json-depth.util.js';

/** Time within which the next `STALL_BYTES` of a body, or its end, must arrive, in ms. */
const STALL_TIME = 1_500;

/** Minimum bytes in each `STALL_TIME`: a sender of single bytes would hold a connection for long. */
const STALL_BYTES = 1_024;

const TOO_SLOW = `the body arrived too slowly (minimum ${STALL_BYTES.toLocaleString('en')} bytes per ${STALL_TIME / 1_000} s)`;

/** Time limit for a whole body, in ms. */
const MAX_TIME = 30_000;

const TOO_LATE = `the body must arrive within ${MAX_TIME / 1_000} s`;

/** Bytes by which gzip may exceed its content: a header with names, and incompressible data. */
const GZIP_OVERHEAD = 4_096;

const gunzipWhole = promisify(gunzip);

const BYTE_ORDER_MARK = /^\ufeff/;

/** Nesting levels of an envelope around its messages. */
const DEPTH_OF_BATCH = 2;

/** JSON in UTF-8. */
export interface JsonText {
  bytes: Buffer;
  /** The bytes as Latin-1, one character for each: the fastest form whose slices convert back to the same bytes. */
  text: string;
  isAscii: boolean;
}

/** Converts the UTF-8 bytes of JSON. */
export function toJsonText(bytes: Buffer): JsonText {
  return { bytes, text: bytes.toString('latin1'), isAscii: isAscii(bytes) };
}

/** An inflated request body: its text, or the value from the host's body parser. */
export type RequestBody = JsonText | { value: unknown; size: number };

/**
 * Reads a request's body. `Content-Type` is ignored, because SDKs label JSON differently.
 * The limit applies to the received bytes and to the inflated ones.
 *
 * @throws {RequestError} 413 above 500 KB, 408 if the body arrives too slowly, 400 if it is not UTF-8.
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const early = parsedBefore(request);
  if (early) return early;
  const bytes = isGzipped(request)
    ? await receive(request, MAX_BATCH_BYTES + GZIP_OVERHEAD).then(inflate)
    : await receive(request, MAX_BATCH_BYTES);
  const json = toJsonText(bytes);
  if (json.isAscii || isUtf8(bytes)) return json;
  throw bodyFault(400, 'body_not_utf8', 'the body must be UTF-8');
}

/** @throws {RequestError} 400 if the body is not JSON. */
export function parseBody(body: RequestBody): unknown {
  if ('value' in body) return body.value;
  try {
    return JSON.parse(body.isAscii ? body.text : body.bytes.toString().replace(BYTE_ORDER_MARK, ''));
  } catch {
    throw bodyFault(400, 'body_not_json', 'the body must be JSON');
  }
}

/** Returns the body if the host's body parser has already read it, as one in front of all routes does. */
function parsedBefore({ readableEnded, body }: IncomingMessage & { body?: unknown }): RequestBody | undefined {
  if (!readableEnded || body === undefined) return undefined;
  // Content-Length is not reliable, because the body may have been gzipped. A body too deep to measure is refused
  // later.
  if (isDeeperThan(body, MAX_DEPTH + DEPTH_OF_BATCH)) return { value: body, size: Infinity };
  const size = Buffer.byteLength(JSON.stringify(body));
  if (size > MAX_BATCH_BYTES) throw tooLarge();
  return { value: body, size };
}

/** Receives the bytes of a body as sent. */
function receive(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const end = Date.now() + MAX_TIME;
    const body = new BodyBuffer(most);
    let expected = STALL_BYTES;
    const finish = (outcome: () => void) => {
      clearTimeout(stall);
      // Listeners left on the request would keep the body in memory until the answer is sent.
      request.off('data', take).off('end', succeed).off('close', cutOff);
      outcome();
    };
    const fail = (fault: RequestError) => finish(() => reject(fault));

    const stall = setTimeout(() => fail(bodyFault(408, 'body_timeout', TOO_SLOW)), STALL_TIME);
    const take = (chunk: Buffer) => {
      const received = body.size + chunk.length;
      if (received >= expected) {
        expected = received + STALL_BYTES;
        stall.refresh();
      }
      if (Date.now() > end) fail(bodyFault(408, 'body_timeout', TOO_LATE));
      else if (received > most) fail(tooLarge());
      else body.add(chunk);
    };
    const succeed = () => finish(() => resolve(body.content()));
    const cutOff = () => {
      if (!request.complete) fail(bodyFault(400, 'body_incomplete', 'the body must be complete'));
    };

    if (Number(request.headers['content-length']) > most) return fail(tooLarge());
    request.on('data', take).on('end', succeed).on('close', cutOff).on('error', ignore);
  });
}

/** An error is followed by `close`. */
const ignore = () => undefined;

/** Inflates after the last byte: a streaming gunzip would keep an object for each chunk, even for one byte. */
async function inflate(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipWhole(bytes, { maxOutputLength: MAX_BATCH_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw bodyFault(400, 'body_not_gzip', 'the body must be valid gzip, as declared by Content-Encoding');
  }
}

function bodyFault(status: number, code: string, rule: string): RequestError {
  return new RequestError(status, code, rule, 'body');
}

function tooLarge(): RequestError {
  return bodyFault(413, 'body_too_large', `the body must not exceed ${MAX_BATCH_BYTES} bytes after decompression`);
}

function isGzipped(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new RequestError(400, 'encoding_unknown', 'Content-Encoding must be gzip or absent', 'Content-Encoding');
}
