import { toPrintable } from '../client/printable.util.js';

/** Characters that are two columns wide: East Asian ones, except their half-width forms, and emoji. */
const WIDE =
  /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uffe6]/gu;

/** Characters without a width of their own, such as combining accents. */
const COMBINING = /[\p{Mn}\p{Me}]/gu;

/** Pads the cells of each column to one width; columns whose index is in `numeric` are right-aligned. */
export function alignColumns(rows: string[][], numeric: number[] = [], minWidth = 0): string[][] {
  const widths = rows[0]!.map((_cell, column) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[column]!)), minWidth),
  );
  return rows.map((row) =>
    row.map((cell, column) => {
      const padding = ' '.repeat(widths[column]! - widthOf(cell));
      return numeric.includes(column) ? padding + cell : cell + padding;
    }),
  );
}

/** Returns the number of columns that a text takes in a terminal. */
function widthOf(text: string): number {
  return [...text.replace(COMBINING, '').replace(WIDE, '  ')].length;
}

/** Formats rows as a table for a terminal. */
export function toTextTable(rows: string[][], numeric: number[] = []): string {
  return alignColumns(
    rows.map((row) => row.map(toPrintable)),
    numeric,
  )
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}
