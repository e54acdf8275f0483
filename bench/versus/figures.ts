import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

import { describeStores } from './peers/stores.js';

/** What was found after a kill, in messages. */
export interface Survival {
  /** Answered with 200, or recorded by a call that had returned. */
  acknowledged: number;
  /** Of these, neither delivered nor in a store when the wait was over. */
  lost: number;
  /** Of these, still in a store, not delivered. */
  kept: number;
  /** Deliveries of messages that had been delivered before. */
  repeated: number;
  /** From the restart until all had been delivered, in s; undefined if that did not happen within the wait. */
  seconds?: number;
}

export interface Row {
  part: 'forwarding' | 'collecting';
  way: string;
  /** Deliveries a second, or events. */
  rate: number;
  /** CPU of the process for each, in us. */
  cpu: number;
  /** The same as a multiple of the floor's, of the same round. */
  ratio: number;
  /** CPU of Redis or PostgreSQL for each, in us. */
  store?: number;
  /** Largest resident memory of the process, in MB. */
  memory: number;
  survival?: Survival;
}

export interface Figures {
  date: string;
  commit: string;
  machine: string;
  node: string;
  stores: string;
  rounds: number;
  rows: Row[];
}

/** The folder of the sources: what is compiled is in `dist/versus/` of it. */
const source = new URL('../../', import.meta.url);

export async function describeRun(): Promise<Omit<Figures, 'rounds' | 'rows'>> {
  const { model } = cpus()[0]!;
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: source, encoding: 'utf8' }).trim(),
    machine: `${cpus().length} cores of ${model}`,
    node: process.versions.node,
    stores: await describeStores(),
  };
}

const HEAD = ['', 'a second', 'CPU µs each', 'x floor', 'store µs each', 'memory MB', 'after `kill -9`'];

function survived({ acknowledged, lost, kept, repeated, seconds }: Survival): string {
  const number = (count: number) => count.toLocaleString('en');
  const parts = [`${number(lost)} of ${number(acknowledged)} lost`];
  if (kept > 0) parts.push(`${number(kept)} still locked`);
  parts.push(`${number(repeated)} repeated`);
  if (seconds !== undefined) parts.push(`all after ${seconds.toFixed(0)} s`);
  return parts.join(', ');
}

/** The table as Markdown. */
export function toMarkdown(rows: Row[]): string {
  const cells = (['forwarding', 'collecting'] as const).flatMap((part) => {
    const of = rows.filter((row) => row.part === part);
    const body = of.map((row) => [
      row.way,
      row.rate.toFixed(0),
      row.cpu.toFixed(row.cpu < 100 ? 1 : 0),
      row.ratio.toFixed(2),
      row.store?.toFixed(0) ?? '',
      row.memory.toFixed(0),
      row.survival ? survived(row.survival) : '',
    ]);
    return of.length > 0 ? [[`_${part}_`, ...HEAD.slice(1).map(() => '')], ...body] : [];
  });
  const widths = HEAD.map((cell, column) => Math.max(cell.length, ...cells.map((line) => line[column]!.length), 3));
  const line = (values: string[]) => `| ${values.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/** Writes `figures.json` and `table.md` beside the sources. */
export function writeFigures(figures: Figures): void {
  const { date, commit, machine, node, stores, rounds } = figures;
  writeFileSync(new URL('figures.json', source), `${JSON.stringify(figures, undefined, 2)}\n`);
  const run = `${date}, commit ${commit}, Node ${node}, ${machine}; ${stores}; medians of ${rounds} rounds.`;
  writeFileSync(new URL('table.md', source), `${run}\n\n${toMarkdown(figures.rows)}\n`);
}
