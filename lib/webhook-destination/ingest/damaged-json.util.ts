import { isPlainObject } from '../../client/message/message.rules.js';

/** A string, or a number that JSON does not have. An unterminated string is matched too, which keeps the search linear. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?(?:NaN|Infinity)/g;

/** Replaces such a number. A message that contains it is refused, because it cannot be serialized. */
const DAMAGE = 0n;

/**
 * Parses JSON with `NaN` or `Infinity`, which Python and others write, so it costs the message that contains it and
 * not the whole batch.
 *
 * @returns undefined if the text has another fault, or the damage is outside the messages of a batch
 */
export function parseDamaged(text: string, isBatch: boolean): unknown {
  if (!/NaN|Infinity/.test(text)) return undefined;
  try {
    // `1e999` is JSON, and parsed as Infinity.
    const json = text.replace(STRING_OR_NUMBER, (found) => (found[0] === '"' ? found : '1e999'));
    const value: unknown = JSON.parse(json, (_key, part: unknown) => (part === Infinity ? DAMAGE : part));
    if (!isBatch || !isPlainObject(value) || !Array.isArray(value.batch)) return value;
    const { batch, ...envelope } = value;
    return isDamaged(envelope) ? undefined : { ...envelope, batch: batch.map(withoutRest) };
  } catch {
    return undefined;
  }
}

/** Returns a message; only its type and the damage if it is damaged, so nothing serializes it before it is refused. */
function withoutRest(message: unknown): unknown {
  return isPlainObject(message) && isDamaged(message) ? { type: message.type, damage: DAMAGE } : message;
}

function isDamaged(value: object): boolean {
  try {
    JSON.stringify(value);
    return false;
  } catch {
    return true;
  }
}
