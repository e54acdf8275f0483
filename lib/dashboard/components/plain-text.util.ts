/** Characters that are not seen, or that turn the direction of text around: a value must not look like another one. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const JOINERS = new Set(['\u200c', '\u200d']); // of words in some scripts, and of emoji

/** A value from outside as one line of text: hidden characters as `\u202e`, and what is longer cut. */
export function toPlainText(value: unknown, max = 200): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return showHidden(text.length > max ? `${text.slice(0, max)}…` : text);
}

/** Whether a text that was typed is this value. Hidden characters cannot be typed: what is shown for them can. */
export function isTypedAs(typed: string, value: string): boolean {
  return typed === value || typed === toPlainText(value, value.length);
}

/** Text with hidden characters as `\u202e`. In JSON they mean the same. */
export function showHidden(text: string, except = ''): string {
  return text.replace(HIDDEN, (found) => (JOINERS.has(found) || except.includes(found) ? found : toEscape(found)));
}

function toEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
