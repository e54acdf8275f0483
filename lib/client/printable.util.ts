/**
 * Characters that move the cursor, end the line, reorder it or are invisible: controls of C0 and C1, bidirectional marks
 * and other format characters, line separators, lone surrogates.
 */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes {@link HIDDEN} characters of text for one line of a log or a terminal. */
export function toPrintable(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character < ' ') return JSON.stringify(character).slice(1, -1);
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** Like {@link toPrintable}, for text whose line breaks are kept, such as a stack. */
export function toPrintableLines(text: string): string {
  return text.split('\n').map(toPrintable).join('\n');
}
