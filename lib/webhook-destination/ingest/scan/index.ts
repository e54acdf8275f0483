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
 * The messages of posted JSON, most of them without a parse, which takes four times as long.
 *
 * @param most messages that a batch may hold
 * @returns undefined when a parser has to judge the text
 */
export function scanMessages(route: MessageRoute, json: JsonText, most: number): ScannedBody | undefined {
  const isBatch = route === 'batch';
  const scanner = new MessageScanner(json, isBatch ? undefined : route);
  const { messages } = scanner;
  try {
    const posted = isBatch ? scanner.envelope(most) : scanner.single();
    const { writeKey, sentAt, context, integrations } = posted as Record<string, unknown>;
    // What a batch has for all its messages is merged into each by the parser.
    if (isBatch && (context ?? integrations ?? null) !== null) return undefined;
    return { messages, writeKey, sentAt };
  } catch (error) {
    // A fault of the text makes it one for the parser; a fault of ours must be seen.
    if (error !== UNUSABLE && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
