import type { JsonText } from '../body.reader.js';
import type { MessageRoute } from '../ingest.routes.js';
import type { PostedMessage } from '../posted-message.interface.js';
import { UNUSABLE } from './json-scanner.js';
import { MessageScanner } from './message-scanner.js';

/** What a scan found. */
interface ScannedBody {
  messages: PostedMessage[];
  writeKey: unknown;
  sentAt: unknown;
}

/**
 * The messages of posted JSON, most of them without a parse: a scan takes a quarter of the time.
 *
 * @param most messages that a batch may hold
 * @returns undefined when a parser has to judge the text
 */
export function scanMessages(route: MessageRoute, json: JsonText, most: number): ScannedBody | undefined {
  const scanner = new MessageScanner(json, route === 'batch' ? undefined : route);
  const { messages } = scanner;
  try {
    if (route !== 'batch') {
      scanner.single();
      return toBody(messages, messages[0]!.value);
    }
    const envelope = scanner.envelope(most);
    return hasSharedFields(envelope) ? undefined : toBody(messages, envelope);
  } catch (error) {
    // A fault of the text makes it one for the parser; a fault of ours must be seen.
    if (error !== UNUSABLE && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function toBody(messages: PostedMessage[], envelope: unknown): ScannedBody {
  const { writeKey, sentAt } = (envelope ?? {}) as { writeKey?: unknown; sentAt?: unknown };
  return { messages, writeKey, sentAt };
}

/** Whether fields of the batch are to be merged into its messages. */
function hasSharedFields(envelope: unknown): boolean {
  const { context, integrations } = envelope as { context?: unknown; integrations?: unknown };
  return (context ?? integrations ?? null) !== null;
}
