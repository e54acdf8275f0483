import { toPrintable } from '../common/printable.util.js';

/** Pads the cells of each column to one width; columns whose index is in `numeric` are right-aligned. */
export function alignColumns(rows: string[][], numeric: number[] = [], minWidth = 0): string[][] {
  const widths = rows[0]!.map((_cell, column) => Math.max(minWidth, ...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) =>
      numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
    ),
  );
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
