/** Rows in columns for a terminal; columns at the positions in `numeric` are aligned to the right. */
export function toTextTable(rows: string[][], numeric: number[] = []): string {
  const printed = rows.map((row) => row.map(printable));
  const widths = printed[0]!.map((_cell, column) => Math.max(...printed.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return printed.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

/** What senders have named must not move the cursor. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  });
}
