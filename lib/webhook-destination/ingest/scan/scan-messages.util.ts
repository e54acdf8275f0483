import type { JsonText } from '../body.reader.js';
import type { MessageRoute } from '../ingest.routes.js';
import type { PostedMessage } from '../posted-message.interface.js';
import { UNUSABLE } from './json-scanner.js';
import { MessageScanner } from './message-scanner.js';

/** Result of a scan. */
interface ScannedBody {
  messages: PostedMessage[];
  writeKey: unknown;
  sentAt: unknown;
}

/**
 * Finds the messages of posted JSON, most of them without parsing, which would take four times as long.
 *
 * @param most maximum number of messages in a batch
 * @returns undefined if the text must be parsed instead
 */
export function scanMessages(route: MessageRoute, json: JsonText, most: number): ScannedBody | undefined {
  const isBatch = route === 'batch';
  const scanner = new MessageScanner(json, isBatch ? undefined : route);
  const { messages } = scanner;
  try {
    const posted = isBatch ? scanner.envelope(most) : scanner.single();
    const { writeKey, sentAt, context, integrations } = posted as Record<string, unknown>;
    // Only the parser merges the shared fields of a batch into its messages.
    if (isBatch && (context ?? integrations ?? null) !== null) return undefined;
    return { messages, writeKey, sentAt };
  } catch (error) {
    // A fault in the text is left to the parser; a bug in the scanner must surface.
    if (error !== UNUSABLE && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
