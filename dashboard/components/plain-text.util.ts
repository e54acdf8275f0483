/** Characters that are invisible or change the direction of text: they can make one value look like another. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const JOINERS = new Set(['\u200c', '\u200d']); // needed in some scripts and in emoji

/** Returns an untrusted value as one line of text, cut after `max` characters, with hidden characters as `\u202e`. */
export function toPlainText(value: unknown, max = 200): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return showHidden(text.length > max ? `${text.slice(0, max)}…` : text);
}

/** Whether a typed text is this value. Hidden characters cannot be typed, so the text shown for them counts as well. */
export function isTypedAs(typed: string, value: string): boolean {
  return typed === value || typed === toPlainText(value, value.length);
}

/** Returns text with hidden characters as `\u202e`, which means the same in JSON. */
export function showHidden(text: string, except = ''): string {
  return text.replace(HIDDEN, (found) => (JOINERS.has(found) || except.includes(found) ? found : toEscape(found)));
}

function toEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
