// With `--record`, a bench also writes its tables into bench/figures.json, by name. README.md, docs/ and bench/README.md
// show them: npm run docs:tables.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const FILE = 'bench/figures.json';

/** A list of texts, as `JSON.stringify` writes it over several lines. */
const LIST = /\[\n\s+("(?:[^"\\]|\\.)*"(?:,\n\s+"(?:[^"\\]|\\.)*")*)\n\s+\]/g;

const isRecorded = process.argv.includes('--record');

/** Asked for before the first table, which changes the work tree. */
const commit = isRecorded ? execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim() : '';

export function recordTable(name: string, title: string, head: string[], rows: string[][]): void {
  if (!isRecorded) return;
  const figures = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, object>;
  const given = process.argv.slice(2).filter((argument) => argument !== '--record');
  const parameters = given.map((argument) => (argument.includes(' ') ? `"${argument}"` : argument));
  figures[name] = {
    title,
    command: [
      `npm run ${process.env.npm_lifecycle_event}`,
      ...(parameters.length > 0 ? ['--', ...parameters] : []),
    ].join(' '),
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores of ${cpus()[0]!.model.trim()}, Node ${process.versions.node}`,
    commit,
    head,
    rows,
  };
  const lists = (_list: string, texts: string) => `[${texts.replaceAll(/\n\s+/g, ' ')}]`;
  writeFileSync(FILE, `${JSON.stringify(figures, undefined, 2).replaceAll(LIST, lists)}\n`);
}
