import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compressAsync = promisify(gzip);

/** Whether the client accepts an answer compressed with gzip. */
export function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test([headers['accept-encoding'] ?? ''].join());
}

/** Compresses a text in a thread of Node, at the speed that suits an answer that is read once. */
export function compress(text: string): Promise<Buffer> {
  return compressAsync(text, { level: constants.Z_BEST_SPEED });
}
