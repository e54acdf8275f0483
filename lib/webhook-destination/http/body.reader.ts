import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { RequestError } from './request.error.js';

/** Maximum size of a body after decompression, in bytes. SDKs post up to 512 KB of messages, plus an envelope. */
export const MAX_BODY_BYTES = 524_288 + 4_096;

/** Time that each body has to arrive, in ms: mobile clients pause for seconds when they change networks. */
const LEAST_TIME = 20_000;

/** Received bytes that extend the time by 1 ms. The largest body ends before Node's own limit of 300 s. */
const LEAST_RATE = 2;

const TOO_SLOW = `the body arrived too slowly (limit: ${LEAST_TIME / 1_000} s, plus 1 s per ${(LEAST_RATE * 1_000).toLocaleString('en')} bytes received); send it again`;

/** Bytes by which gzip may exceed its content: a header with names, and incompressible data. */
const GZIP_OVERHEAD = 4_096;

/** The first bytes of gzip. JSON never begins with them. */
const GZIP_START = Buffer.from([0x1f, 0x8b]);

const NEWLINE = 0x0a;

const gunzipWhole = promisify(gunzip);

const BYTE_ORDER_MARK = /^\ufeff/;

/** Maximum nesting of a body that is measured, in levels: a much deeper one cannot be serialized. */
export const MAX_BODY_DEPTH = 102;

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
 * Reads a request's body. `Content-Type` is ignored, because SDKs label JSON differently. A body is inflated if it
 * begins like gzip, because proxies inflate bodies and leave the header.
 * The limit applies to the received bytes and to the inflated ones.
 *
 * @param most the limit, in bytes
 * @throws {RequestError} 413 above the limit, 503 if the body arrives too slowly, 400 if it is not UTF-8.
 */
export async function readBody(request: IncomingMessage, most = MAX_BODY_BYTES): Promise<RequestBody> {
  const early = parsedBefore(request, most);
  if (early) return early;
  const received = await receive(request, most, declaresGzip(request) ? GZIP_OVERHEAD : 0);
  const bytes = received.subarray(0, GZIP_START.length).equals(GZIP_START) ? await inflate(received, most) : received;
  if (bytes.length > most) throw tooLarge(most);
  const json = toJsonText(bytes);
  if (json.isAscii || isUtf8(bytes)) return json;
  throw new RequestError('body_not_utf8', 'the body must be UTF-8', 'body');
}

/** @throws {RequestError} 400 if the body is not JSON. */
export function parseBody(body: RequestBody): unknown {
  if ('value' in body) return body.value;
  try {
    return JSON.parse(body.isAscii ? body.text : body.bytes.toString().replace(BYTE_ORDER_MARK, ''));
  } catch {
    throw new RequestError('body_not_json', 'the body must be JSON', 'body');
  }
}

/** Returns whether a JSON value is nested deeper than this number of levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

/** Returns the body if the host's body parser has already read it, as one in front of all routes does. */
function parsedBefore(
  { readableEnded, body }: IncomingMessage & { body?: unknown },
  most: number,
): RequestBody | undefined {
  if (!readableEnded || body === undefined) return undefined;
  // Content-Length is not reliable, because the body may have been gzipped. A body too deep to measure is refused
  // later.
  if (isDeeperThan(body, MAX_BODY_DEPTH)) return { value: body, size: Infinity };
  const size = Buffer.byteLength(JSON.stringify(body));
  if (size > most) throw tooLarge(most);
  return { value: body, size };
}

/** Receives the bytes of a body as sent. */
function receive(request: IncomingMessage, limit: number, overhead: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const most = limit + overhead;
    const body = new BodyBuffer(most);
    const finish = (outcome: () => void) => {
      clearTimeout(timer);
      clearImmediate(turn);
      // Listeners left on the request would keep the body in memory until the answer is sent.
      request.off('data', take).off('end', succeed).off('close', cutOff);
      outcome();
    };
    const fail = (fault: RequestError) => finish(() => reject(fault));

    const checkTime = () => {
      const left = startedAt + LEAST_TIME + body.size / LEAST_RATE - performance.now();
      // SDKs retry 503. Some mobile SDKs drop the batch on 408.
      if (left <= 0) fail(new RequestError('body_timeout', TOO_SLOW, 'body'));
      else timer = setTimeout(readFirst, left);
    };
    // Bytes that arrived while the process stood still are read before the time is checked.
    const readFirst = () => void (turn = setImmediate(checkTime));
    let turn: NodeJS.Immediate | undefined;
    let timer = setTimeout(readFirst, LEAST_TIME);
    const take = (chunk: Buffer) => {
      if (body.size + chunk.length > most) fail(tooLarge(limit));
      else body.add(chunk);
    };
    const succeed = () => finish(() => resolve(body.content()));
    const cutOff = () => {
      if (!request.complete) fail(new RequestError('body_incomplete', 'the body must be complete', 'body'));
    };

    if (Number(request.headers['content-length']) > most) return fail(tooLarge(limit));
    request.on('data', take).on('end', succeed).on('close', cutOff).on('error', ignore);
  });
}

/** Collects the bytes of a body, using at most twice their size in memory for any number of chunks. */
class BodyBuffer {
  private bytes: Buffer = Buffer.alloc(0);
  /** Number of bytes received. */
  size = 0;

  /** @param most maximum number of bytes; the caller enforces it */
  constructor(private readonly most: number) {}

  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (this.size === 0) {
      this.bytes = chunk; // most bodies are one chunk, which need not be copied
    } else {
      if (size > this.bytes.length) this.grow(size);
      chunk.copy(this.bytes, this.size);
    }
    this.size = size;
  }

  /** Returns the received bytes without copying them. */
  content(): Buffer {
    return this.bytes.subarray(0, this.size);
  }

  private grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.min(Math.max(size, 2 * this.bytes.length), this.most));
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }
}

/** An error is followed by `close`. */
const ignore = () => undefined;

/** Inflates after the last byte: a streaming gunzip would keep an object for each chunk, even for one byte. */
async function inflate(bytes: Buffer, most: number): Promise<Buffer> {
  // PHP adds a newline. Gzip ends with the size of its content, whose last byte is 0 in a body within the limit.
  let end = bytes.length;
  while (bytes[end - 1] === NEWLINE) end--;
  try {
    return await gunzipWhole(bytes.subarray(0, end), { maxOutputLength: most });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(most);
    throw new RequestError('body_not_gzip', 'the body begins like gzip, and must be valid gzip', 'body');
  }
}

function tooLarge(most: number): RequestError {
  const rule = `the body must not exceed ${most} bytes after decompression`;
  return new RequestError('body_too_large', rule, 'body');
}

function declaresGzip(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new RequestError('encoding_unknown', 'Content-Encoding must be gzip or absent', 'Content-Encoding');
}
