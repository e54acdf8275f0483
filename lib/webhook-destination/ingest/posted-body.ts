import { isPlainObject } from '../../client/message/message.rules.js';
import { MAX_MESSAGES, parseBatch } from './batch.parser.js';
import { type JsonText, parseBody, type RequestBody } from '../http/body.reader.js';
import { parseDamaged } from './damaged-json.util.js';
import { RequestError } from '../http/request.error.js';
import type { MessageRoute } from './ingest.routes.js';
import { ParsedMessage } from './parsed-message.js';
import type { PostedMessage } from './posted-message.interface.js';
import { UNUSABLE } from './scan/json-scanner.js';
import { MessageScanner } from './scan/message-scanner.js';

/** The content of a posted body. */
interface PostedBody {
  /** The write key in the body, of any type. */
  writeKey: unknown;
  /** When the sender posted the body, by its own clock. */
  sentAt: unknown;
  /** @throws {RequestError} 400 if the envelope around the messages breaks a rule. */
  messages: () => PostedMessage[];
}

/**
 * Reads a body: one message on the route of a message type, else an envelope of messages.
 *
 * @throws {RequestError} 400 if the body is not JSON.
 */
export function readPostedBody(route: MessageRoute, body: RequestBody): PostedBody {
  const scanned = 'bytes' in body ? scan(route, body) : undefined;
  if (scanned) return scanned;
  const { value, size } = parse(route, body);
  const { writeKey, sentAt } = Object(value) as Record<string, unknown>;
  const messages = () => {
    if (!isPlainObject(value)) throw new RequestError('body_not_object', 'the body must be an object', 'body');
    return route === 'batch' ? parseBatch(value, size) : [new ParsedMessage(value, { size, type: route })];
  };
  return { writeKey, sentAt, messages };
}

/** Returns the value of a body, and the upper bound of the size of each of its messages. */
function parse(route: MessageRoute, body: RequestBody): { value: unknown; size: number } {
  if ('value' in body) return body;
  try {
    return { value: parseBody(body), size: body.bytes.length };
  } catch (error) {
    const value = parseDamaged(body.bytes.toString(), route === 'batch');
    if (value === undefined) throw error;
    return { value, size: Infinity };
  }
}

/**
 * Finds the messages of posted JSON, most of them without parsing, which would take four times as long.
 *
 * @returns undefined if the text must be parsed instead
 */
function scan(route: MessageRoute, json: JsonText): PostedBody | undefined {
  const isBatch = route === 'batch';
  const scanner = new MessageScanner(json, isBatch ? undefined : route);
  const { messages } = scanner;
  try {
    const posted = isBatch ? scanner.envelope(MAX_MESSAGES) : scanner.single();
    const { writeKey, sentAt, context, integrations } = posted as Record<string, unknown>;
    // Only the parser merges the shared fields of a batch into its messages.
    if (isBatch && (context ?? integrations ?? null) !== null) return undefined;
    return { writeKey, sentAt, messages: () => messages };
  } catch (error) {
    // A fault in the text is left to the parser; a bug in the scanner must surface.
    if (error !== UNUSABLE && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
