import type { buildConnector } from 'undici';

import { RelayError } from '../../client/relay.error.js';
import { MAX_RESPONSE_BYTES } from './webhook-transport.interface.js';

const NOTHING: Buffer = Buffer.alloc(0);

const CR = 0x0d;
const LF = 0x0a;

/** First characters of an interim answer. */
const STARTS = ['HTTP/1.1 1', 'HTTP/1.0 1'];

/** Number of bytes that identify an interim answer: the version and the status. */
const KNOWN_BY = 'HTTP/1.1 100'.length;

/** Position of the first digit of the status. */
const DIGIT = 'HTTP/1.1 '.length;
const ONE = 0x31;

/**
 * Drops the interim answers of receivers (every 1xx except 101), which may come unrequested, in any number (RFC 9110,
 * section 15.2). undici's parser mistakes a 100 for the end of the exchange.
 */
export class InterimFilter {
  private state: 'start' | 'interim' | 'final' = 'start';
  /** The first bytes of an answer, too few to identify it. */
  private held = NOTHING;
  private isLineEmpty = false;
  /** Number of bytes dropped since the request. */
  dropped = 0;

  /** Called when a request is sent: an answer begins with the next byte. */
  begin(): void {
    if (this.state !== 'final') return;
    this.state = 'start';
    this.dropped = 0;
  }

  /** Returns the bytes that are not dropped. */
  take(chunk: Buffer): Buffer {
    let rest = chunk;
    while (this.state !== 'final' && rest.length > 0) {
      rest = this.state === 'start' ? this.takeStart(rest) : this.dropHead(rest);
    }
    return rest;
  }

  private takeStart(chunk: Buffer): Buffer {
    const rest = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    const isFinal = rest.length > DIGIT && rest[DIGIT] !== ONE; // the usual case, which needs no text
    const text = isFinal ? '' : rest.toString('latin1', 0, KNOWN_BY);
    const mayBeInterim = !isFinal && STARTS.some((start) => start.startsWith(text.slice(0, start.length)));
    if (mayBeInterim && text.length < KNOWN_BY) {
      this.held = rest;
      return NOTHING;
    }
    this.held = NOTHING;
    this.state = mayBeInterim && !text.endsWith('101') ? 'interim' : 'final';
    this.isLineEmpty = false;
    return rest;
  }

  /** Drops bytes up to the empty line that ends an answer's head. */
  private dropHead(chunk: Buffer): Buffer {
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index];
      if (byte === CR) continue;
      if (byte === LF && this.isLineEmpty) {
        this.state = 'start';
        this.dropped += index + 1;
        return chunk.subarray(index + 1);
      }
      this.isLineEmpty = byte === LF;
    }
    this.dropped += chunk.length;
    return NOTHING;
  }
}

/** Wraps a connector to hide interim answers from undici: all bytes pass `push` and `write`. */
export function withoutInterim(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const filter = new InterimFilter();
      const push = socket.push.bind(socket);
      const write = socket.write.bind(socket);
      socket.write = ((...args: Parameters<typeof write>) => {
        filter.begin();
        return write(...args);
      }) as typeof write;
      socket.push = (chunk: Buffer | null, encoding) => {
        if (chunk === null) return push(chunk, encoding);
        const rest = filter.take(chunk);
        if (filter.dropped > MAX_RESPONSE_BYTES) {
          socket.destroy(new RelayError('response_too_long', 'too many interim (1xx) responses'));
          return false;
        }
        return rest.length === 0 || push(rest, encoding);
      };
      callback(null, socket);
    });
}
