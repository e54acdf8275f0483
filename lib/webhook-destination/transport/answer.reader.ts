import type { buildConnector } from 'undici';

import { RelayError } from '../../client/relay.error.js';
import { MAX_RESPONSE_BYTES, type WebhookResponse } from './webhook-transport.interface.js';

const NOTHING: Buffer = Buffer.alloc(0);

const CR = 0x0d;
const LF = 0x0a;
const ONE = 0x31;

/** Number of bytes that identify an answer: the version and the status. */
const KNOWN_BY = 'HTTP/1.1 100'.length;

/** Position of the first digit of the status. */
const DIGIT = 'HTTP/1.1 '.length;

/** Number of bytes of an answer that are kept until the next request. */
const KEPT = 2_048;

/**
 * Reads the beginning of each answer on a connection, before undici's parser does. It drops interim answers (every 1xx
 * except 101), which may come unrequested, in any number (RFC 9110, section 15.2), because undici mistakes a 100 for
 * the end of the exchange. It keeps the status line, which counts even if undici cannot parse the rest.
 */
export class AnswerReader {
  private state: 'start' | 'interim' | 'final' = 'start';
  /** The first bytes: of an answer that is not identified yet, then of the final answer. */
  private first = NOTHING;
  private isLineEmpty = false;
  /** Number of bytes dropped since the request. */
  dropped = 0;
  /** Whether the current request is not the first one on its connection. */
  isReused = false;

  /** Called before a request is sent: an answer begins with the next byte. */
  begin(): void {
    if (this.state !== 'final') return;
    this.state = 'start';
    this.first = NOTHING;
    this.dropped = 0;
    this.isReused = true;
  }

  /** The final answer, as far as it can be read without its length; undefined until its status has arrived. */
  get answer(): WebhookResponse | undefined {
    const head = this.first.toString('latin1');
    const [, status] = /^HTTP\/\d(?:\.\d)? ([2-9]\d\d)(?!\d)/.exec(head) ?? [];
    if (status === undefined) return undefined;
    const found = [...head.matchAll(/^(retry-after|webhook-delivery):[ \t]*([^\r\n]*)\r?\n/gim)];
    const headers = Object.fromEntries(found.map(([, name = '', value]) => [name.toLowerCase(), value] as const));
    return { status: Number(status), headers };
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
    let rest = this.first.length === 0 ? chunk : Buffer.concat([this.first, chunk]);
    // Some receivers send a line break after a body that its length does not include.
    while (rest[0] === CR || rest[0] === LF) rest = rest.subarray(1);
    this.first = rest;
    if (rest.length < KNOWN_BY) return NOTHING;
    // In the usual case no text is made.
    if (rest[DIGIT] === ONE && /^HTTP\/1\.[01] 1(?!01)/.test(rest.toString('latin1', 0, KNOWN_BY))) {
      this.state = 'interim';
      this.first = NOTHING;
      this.isLineEmpty = false;
    } else {
      this.state = 'final';
      if (rest.length > KEPT) this.first = Buffer.from(rest.subarray(0, KEPT));
    }
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

/**
 * Wraps a connector so that an {@link AnswerReader} reads all bytes that undici gets: they pass `push`.
 *
 * @param onConnecting called before each connection, with its reader
 */
export function readingAnswers(
  connect: buildConnector.connector,
  onConnecting: (reader: AnswerReader) => void,
): buildConnector.connector {
  return (options, callback) => {
    const reader = new AnswerReader();
    onConnecting(reader);
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const push = socket.push.bind(socket);
      socket.push = (chunk: Buffer | null, encoding) => {
        if (chunk === null) return push(chunk, encoding);
        const rest = reader.take(chunk);
        if (reader.dropped > MAX_RESPONSE_BYTES) {
          socket.destroy(new RelayError('response_too_long', 'too many interim (1xx) responses'));
          return false;
        }
        return rest.length === 0 || push(rest, encoding);
      };
      callback(null, socket);
    });
  };
}
