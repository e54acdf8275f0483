import { recordTable } from './figures.js';

/** A figure and its bound. */
export interface Goal {
  figure: string;
  value: number;
  atMost: number;
}

export const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Prints a table as Markdown. With `--record`, bench/figures.json gets it under the name, if it has one. */
export function printTable(name: string | undefined, title: string, head: string[], rows: string[][]): void {
  if (name !== undefined) recordTable(name, title, head, rows);
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  console.log(`\n${title}\n`);
  console.log(line(head));
  console.log(line(widths.map((width) => '-'.repeat(width))));
  for (const row of rows) console.log(line(row));
}

/** Prints which goals are reached; the process fails when one is not. */
export function printGoals(goals: Goal[]): void {
  printTable(
    undefined,
    'goals',
    ['figure', 'measured', 'at most', ''],
    goals.map(({ figure, value, atMost }) => [
      figure,
      value.toFixed(2),
      atMost.toFixed(2),
      value <= atMost ? 'reached' : 'MISSED',
    ]),
  );
  if (goals.some(({ value, atMost }) => value > atMost)) process.exitCode = 1;
}
