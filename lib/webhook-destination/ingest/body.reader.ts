import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { MAX_BATCH_BYTES } from '../../client/message/message.limits.js';
import { BodyBuffer } from './body-buffer.util.js';
import { RequestError } from './request.error.js';
import { isDeeperThan, MAX_DEPTH } from './json-depth.util.js';

/** How long a body may take for its next bytes, or its end, before it is given up, in ms. */
const STALL_TIME = 1_500;

/** How many bytes these are: one at a time would hold a connection for long. */
const STALL_BYTES = 1_024;

/** How long a body may take in all, in ms. */
const MAX_TIME = 30_000;

/** By how much gzip may be larger than what is in it: a header with names, and what it does not compress. */
const GZIP_OVERHEAD = 4_096;

const gunzipWhole = promisify(gunzip);

const BYTE_ORDER_MARK = /^\ufeff/;

/** Levels of an envelope around its messages. */
const DEPTH_OF_BATCH = 2;

/** JSON in UTF-8. */
export interface JsonText {
  bytes: Buffer;
  /** The bytes as Latin-1, a character for each: what is cut out of it becomes the same bytes again, and soonest. */
  text: string;
  isAscii: boolean;
}

/** The JSON that the bytes are in UTF-8. */
export function toJsonText(bytes: Buffer): JsonText {
  return { bytes, text: bytes.toString('latin1'), isAscii: isAscii(bytes) };
}

/** A request's body, inflated: its text, or what a parser of the host has made of it before. */
export type RequestBody = JsonText | { value: unknown; size: number };

/**
 * Reads a request's body, whatever its content type says: SDKs label it in many ways.
 * Bytes are counted as they come in, and as they are inflated.
 *
 * @throws {RequestError} 413 past 500 KB, 408 when it does not come in time, 400 when it is not UTF-8.
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const early = parsedBefore(request);
  if (early) return early;
  const bytes = await readBytes(request);
  const json = toJsonText(bytes);
  if (json.isAscii || isUtf8(bytes)) return json;
  throw new RequestError(400, 'body_not_utf8', 'the body must be UTF-8', 'body');
}

/** @throws {RequestError} 400 when the body is not JSON. */
export function parseBody(body: RequestBody): unknown {
  if ('value' in body) return body.value;
  try {
    return JSON.parse(body.isAscii ? body.text : body.bytes.toString().replace(BYTE_ORDER_MARK, ''));
  } catch {
    throw new RequestError(400, 'body_not_json', 'the body must be JSON', 'body');
  }
}

/** The body that a parser of the host has read already; one that is put before every route does so. */
function parsedBefore({ readableEnded, body }: IncomingMessage & { body?: unknown }): RequestBody | undefined {
  if (!readableEnded || body === undefined) return undefined;
  // Its Content-Length does not tell, as it may have been gzipped. What is too deep to be measured is refused later.
  if (isDeeperThan(body, MAX_DEPTH + DEPTH_OF_BATCH)) return { value: body, size: Infinity };
  const size = Buffer.byteLength(JSON.stringify(body));
  if (size > MAX_BATCH_BYTES) throw tooLarge();
  return { value: body, size };
}

function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (!isGzipped(request)) return receive(request, MAX_BATCH_BYTES);
  return receive(request, MAX_BATCH_BYTES + GZIP_OVERHEAD).then(inflate);
}

/** The bytes of a body as they were sent. */
function receive(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const end = Date.now() + MAX_TIME;
    const body = new BodyBuffer(most);
    let expected = STALL_BYTES;
    const finish = (outcome: () => void) => {
      clearTimeout(stall);
      // What stays on the request must not hold the body, as the request waits for its answer to be sent.
      request.off('data', take).off('end', succeed).off('close', cutOff);
      outcome();
    };
    const fail = (status: number, code: string, rule: string) =>
      finish(() => reject(new RequestError(status, code, `the body must ${rule}`, 'body')));

    const stall = setTimeout(
      () => fail(408, 'body_timeout', `bring ${STALL_BYTES} bytes, or its end, every ${STALL_TIME} ms`),
      STALL_TIME,
    );
    const take = (chunk: Buffer) => {
      const received = body.size + chunk.length;
      if (received >= expected) {
        expected = received + STALL_BYTES;
        stall.refresh();
      }
      if (Date.now() > end) fail(408, 'body_timeout', `come in within ${MAX_TIME} ms`);
      else if (received > most) finish(() => reject(tooLarge()));
      else body.add(chunk);
    };
    const succeed = () => finish(() => resolve(body.content()));
    const cutOff = () => {
      if (!request.complete) fail(400, 'body_incomplete', 'be complete');
    };

    if (Number(request.headers['content-length']) > most) return finish(() => reject(tooLarge()));
    request.on('data', take).on('end', succeed).on('close', cutOff).on('error', ignore);
  });
}

/** After an error, a request closes. */
const ignore = () => undefined;

/** It comes after the last byte: a gunzip that is fed by the sender keeps an object for each chunk, be it one byte. */
async function inflate(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipWhole(bytes, { maxOutputLength: MAX_BATCH_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new RequestError(400, 'body_not_gzip', 'the body must be gzip, as its Content-Encoding says', 'body');
  }
}

const tooLarge = () =>
  new RequestError(413, 'body_too_large', `the body must not exceed ${MAX_BATCH_BYTES} bytes, inflated`, 'body');

function isGzipped(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new RequestError(400, 'encoding_unknown', 'Content-Encoding must be gzip or absent', 'Content-Encoding');
}
