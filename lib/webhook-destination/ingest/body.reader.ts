import { isAscii as isAsciiOnly, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';

import { MAX_BATCH_BYTES } from '../../client/message/message.limits.js';
import { IngestError } from './ingest.error.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';

/** How long a body may take for its next bytes, or its end, before it is given up, in ms. */
const STALL_TIME = 1_500;

/** How many bytes these are: one at a time would hold a connection for long. */
const STALL_BYTES = 1_024;

/** How long a body may take in all, in ms. */
const MAX_TIME = 30_000;

/** By how much gzip may be larger than what is in it: a header with names, and what it does not compress. */
const GZIP_OVERHEAD = 4_096;

const BYTE_ORDER_MARK = /^\ufeff/;

/** Levels of an envelope around its messages. */
const DEPTH_OF_BATCH = 2;

/** A request's body, inflated: its text in UTF-8, or what a parser of the host has made of it before. */
export type RequestBody = { bytes: Buffer; isAscii: boolean } | { value: unknown; size: number };

/**
 * Reads a request's body, whatever its content type says: SDKs label it in many ways.
 * Bytes are counted as they come in, or as they are inflated.
 *
 * @throws {IngestError} 413 past the limit of §8, 408 when it does not come in time, 400 when it is not UTF-8.
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const early = parsedBefore(request);
  if (early) return early;
  const bytes = await readBytes(request);
  const isAscii = isAsciiOnly(bytes);
  if (!isAscii && !isUtf8(bytes)) throw new IngestError(400, 'body_not_utf8', 'the body must be UTF-8', 'body');
  return { bytes, isAscii };
}

/** @throws {IngestError} 400 when the body is not JSON. */
export function parseBody(body: RequestBody): unknown {
  if ('value' in body) return body.value;
  try {
    return JSON.parse(body.bytes.toString(body.isAscii ? 'latin1' : 'utf8').replace(BYTE_ORDER_MARK, ''));
  } catch {
    throw new IngestError(400, 'body_not_json', 'the body must be JSON', 'body');
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
  const gunzip = isGzipped(request) ? request.pipe(createGunzip()) : undefined;
  const most = MAX_BATCH_BYTES + (gunzip ? GZIP_OVERHEAD : 0);
  return new Promise((resolve, reject) => {
    const end = Date.now() + MAX_TIME;
    const chunks: Buffer[] = [];
    let size = 0;
    let received = 0;
    let expected = STALL_BYTES;
    const finish = (outcome: () => void) => {
      clearTimeout(stall);
      request.off('data', receive).off('close', cutOff);
      if (gunzip) {
        request.unpipe(gunzip);
        gunzip.off('data', take).destroy();
      }
      outcome();
    };
    const fail = (status: number, code: string, rule: string) =>
      finish(() => reject(new IngestError(status, code, `the body must ${rule}`, 'body')));

    const stall = setTimeout(
      () => fail(408, 'body_timeout', `bring ${STALL_BYTES} bytes, or its end, every ${STALL_TIME} ms`),
      STALL_TIME,
    );
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BATCH_BYTES) finish(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const receive = (chunk: Buffer) => {
      received += chunk.length;
      if (received >= expected) {
        expected = received + STALL_BYTES;
        stall.refresh();
      }
      if (Date.now() > end) fail(408, 'body_timeout', `come in within ${MAX_TIME} ms`);
      else if (received > most) finish(() => reject(tooLarge()));
      else if (!gunzip) take(chunk);
    };
    const succeed = () => finish(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    const cutOff = () => {
      if (!request.complete) fail(400, 'body_incomplete', 'be complete');
    };

    if (Number(request.headers['content-length']) > most) return finish(() => reject(tooLarge()));
    request.on('data', receive).on('close', cutOff).on('error', cutOff);
    // How long it then takes to inflate is not the sender's fault.
    request.once('end', gunzip ? () => clearTimeout(stall) : succeed);
    gunzip?.on('data', take).once('end', succeed);
    gunzip?.once('error', () => fail(400, 'body_not_gzip', 'be gzip, as its Content-Encoding says'));
  });
}

const tooLarge = () =>
  new IngestError(413, 'body_too_large', `the body must not exceed ${MAX_BATCH_BYTES} bytes, inflated`, 'body');

function isGzipped(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new IngestError(400, 'encoding_unknown', 'Content-Encoding must be gzip or absent', 'Content-Encoding');
}
