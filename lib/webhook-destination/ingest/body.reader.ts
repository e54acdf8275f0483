import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { MAX_BATCH_BYTES } from '../../client/message/message.limits.js';
import { IngestError } from './ingest.error.js';

/**
 * Reads a request's JSON body, whatever its content type says: SDKs label it in many ways.
 * Bytes are counted as they come in, or as they are inflated.
 *
 * @throws {IngestError} 413 past the limit of §8, 400 when it is not JSON.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(decode(request));
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new IngestError(400, 'body_not_json', 'the body must be JSON');
  }
}

function decode(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  if (encoding !== 'gzip') throw new IngestError(400, 'encoding_unknown', 'Content-Encoding must be gzip or absent');
  const inflated = request.pipe(createGunzip());
  request.once('close', () => {
    if (!request.complete) inflated.destroy();
  });
  return inflated;
}

function readBytes(source: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BATCH_BYTES) return chunks.push(chunk);
      source.removeAllListeners('data').pause();
      return reject(
        new IngestError(413, 'body_too_large', `the body must not exceed ${MAX_BATCH_BYTES} bytes, inflated`),
      );
    });
    source.once('end', () => resolve(Buffer.concat(chunks, size)));
    const incomplete = () =>
      reject(new IngestError(400, 'body_incomplete', 'the body must be complete and well encoded'));
    source.once('error', incomplete);
    source.once('close', incomplete);
  });
}
