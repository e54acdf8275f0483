import { isPlainObject } from '../../client/message/message.rules.js';
import { parseBody, type RequestBody } from './body.reader.js';
import type { MessageRoute } from './ingest.routes.js';
import { MessageScan } from './message.scan.js';
import { MAX_MESSAGES } from './posted.batch.js';
import type { PostedMessage } from './posted.message.js';
import { ScannedMessage } from './scanned.message.js';

/** The JSON that a request posted. */
export interface PostedBody {
  value: unknown;
  /** The messages, where they were scanned; then they are not in the value. */
  messages?: PostedMessage[];
  /** Bytes of the whole, so that no message is larger. */
  size: number;
}

/** @throws {IngestError} 400 when the body is not JSON. */
export function readPosted(route: MessageRoute, body: RequestBody): PostedBody {
  if ('value' in body) return body;
  const { bytes, isAscii } = body;
  const size = bytes.length;
  const text = isAscii ? bytes.toString('latin1') : undefined;
  if (route === 'batch') {
    const scanned = MessageScan.envelope(bytes, text, MAX_MESSAGES);
    if (scanned && !hasSharedFields(scanned.envelope)) {
      return { value: scanned.envelope, messages: scanned.messages, size };
    }
  } else {
    const message = MessageScan.message(bytes, text, route);
    if (message instanceof ScannedMessage) return { value: message.value, messages: [message], size };
    if (message) return { value: message.value, size };
  }
  return { value: parseBody(body), size };
}

/** Whether fields of the batch are to be merged into its messages. */
function hasSharedFields(envelope: unknown): boolean {
  return isPlainObject(envelope) && (envelope.context ?? envelope.integrations ?? null) !== null;
}
