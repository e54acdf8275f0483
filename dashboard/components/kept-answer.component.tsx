import type { KeptAnswer as Answer } from '../../lib/webhook-destination/queue/attempt-record.interface.js';
import { JsonView } from './json-view.component.js';

/** Number of bytes of an answer that are kept. */
const KEPT = 1_024;

/** The beginning of what a receiver answered, as text; of binary content, only its type and length. */
export function KeptAnswer({ answer: { type, text, bytes } }: { answer: Answer }) {
  const length = `${bytes.toLocaleString()} bytes`;
  const facts = [type, text !== undefined && bytes > KEPT ? `first 1 KB of ${length}` : length]
    .filter(Boolean)
    .join(', ');
  if (text === undefined) return <p class="muted">Answer: {facts}, not shown because it is not text</p>;
  return <JsonView name={`Answer: ${facts}`} text={text.replaceAll('\r\n', '\n')} />;
}
