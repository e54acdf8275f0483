/** Turns the direction of text around, and so lets `\u202egpj.exe` look like another name. */
export const BIDI = '\u202e\u2066';

/** A value that would do harm as HTML. */
export const SCRIPT = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Short enough for names and ids. */
export const HOSTILE = `${SCRIPT}${BIDI}"'&`;

/** 30 KB: close to the limit of a message. */
export const LONG = `${'x'.repeat(30_000)}end`;

/** Objects in objects. */
export function deep(levels: number): object {
  let value: object = { bottom: true };
  for (let level = 0; level < levels; level++) value = { below: value };
  return value;
}
