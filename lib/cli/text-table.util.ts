import { toPrintable } from '../common/printable.util.js';

/** The rows with cells of one width for each column; columns at the positions in `numeric` are aligned to the right. */
export function alignColumns(rows: string[][], numeric: number[] = [], minWidth = 0): string[][] {
  const widths = rows[0]!.map((_cell, column) => Math.max(minWidth, ...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) =>
      numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
    ),
  );
}

/** A table for a terminal. */
export function toTextTable(rows: string[][], numeric: number[] = []): string {
  return alignColumns(
    rows.map((row) => row.map(toPrintable)),
    numeric,
  )
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}
