import { toPrintable } from '../common/printable.util.js';

/** Rows in columns for a terminal; columns at the positions in `numeric` are aligned to the right. */
export function toTextTable(rows: string[][], numeric: number[] = []): string {
  const printed = rows.map((row) => row.map(toPrintable));
  const widths = printed[0]!.map((_cell, column) => Math.max(...printed.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    numeric.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return printed.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}
