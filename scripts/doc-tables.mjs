// Writes the tables of options and error codes in docs/ from comments in lib/, and the figures of README.md, docs/ and
// bench/README.md from bench/figures.json (scripts/figures.mjs): node scripts/doc-tables.mjs [--check]
// A table stands between `<!-- options: Type -->` and `<!-- /options -->`. Several types share a table, separated by
// spaces; `without Type` leaves out the properties that Type declares. `<!-- errors: group -->` takes groups of
// lib/client/error.codes.ts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { format, resolveConfig } from 'prettier';

import { withFigures } from './figures.mjs';
import { slugOf } from './heading-slug.mjs';
import { OptionReader } from './option-reader.mjs';

const TABLE = /(<!-- options: ([\w ]+) -->)[^]*?(<!-- \/options -->)/g;
const ERROR_TABLE = /(<!-- errors: ([\w ]+) -->)[^]*?(<!-- \/errors -->)/g;
const ERROR_GROUP = /^(?:const|type) (\w+) =.*\n((?: {2}.*\n)+)/gm;
const ERROR = /^ {2}(?:(?<key>\w+): (?<status>\d+),|\| (?<type>'\w+'|`[^`]+`);?) \/\/ (?<text>.+)$/;
const root = new URL('../', import.meta.url);
const faults = [];

/** The option types that a marker names. */
function typesOf(marker) {
  const [included, without = ''] = marker.split(' without ');
  return { included: included.trim().split(' '), without: without.trim().split(' ').filter(Boolean) };
}

/** The anchor of each type that has a table on this page: that of the heading above it. */
function anchorsOf(markdown) {
  const anchors = new Map();
  for (const { index, 2: marker } of markdown.matchAll(TABLE)) {
    const title = [...markdown.slice(0, index).matchAll(/^#+ (.+)$/gm)].at(-1)[1];
    for (const type of typesOf(marker).included) anchors.set(type, `#${slugOf(title)}`);
  }
  return anchors;
}

function toTable(head, rows) {
  const escape = (text) => text.replaceAll('|', '\\|');
  const lines = rows.map((cells) => `| ${cells.map(escape).join(' | ')} |`);
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...lines];
}

function toOptionTable(rows) {
  const cells = rows.map(({ name, type, defaultValue, text }) => [`\`${name}\``, type, defaultValue, text]);
  return toTable(['option', 'type', 'default', 'description'], cells);
}

/** The groups of error codes, by name: rows of codes, status (empty without one) and text. */
function readErrors() {
  const source = readFileSync(new URL('../lib/client/error.codes.ts', import.meta.url), 'utf8');
  const rowOf = (line) => {
    const { key, status = '', type = `'${key}'`, text } = ERROR.exec(line)?.groups ?? {};
    if (!text) faults.push(`error.codes.ts: write a code and, behind it, a comment: ${line.trim()}`);
    const [, start, names = '', end] = /^['`](\w*)(?:\$\{(.*)\})?(\w*)['`]$/.exec(type);
    const codes = (names.match(/\w+/g) ?? ['']).map((name) => `\`${start}${name}${end}\``);
    return [codes.join(', '), status && `\`${status}\``, text ?? ''];
  };
  return new Map(
    [...source.matchAll(ERROR_GROUP)].map(([, name, rows]) => [name, rows.trimEnd().split('\n').map(rowOf)]),
  );
}

function toErrorTable(rows) {
  if (rows.some(([, status]) => status)) return toTable(['code', 'status', 'cause, and what to do'], rows);
  return toTable(
    ['code', 'cause, and what to do'],
    rows.map(([codes, , text]) => [codes, text]),
  );
}

const reader = new OptionReader(fileURLToPath(root));
const errors = readErrors();
const listed = new Set();
const outdated = [];
const pages = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'));
for (const page of ['README.md', 'bench/README.md', ...pages.map((name) => `docs/${name}`)]) {
  const url = new URL(page, root);
  const markdown = readFileSync(url, 'utf8');
  if (!/<!-- (options|errors|figures?):/.test(markdown)) continue;
  const anchors = anchorsOf(markdown);
  const withOptions = markdown.replaceAll(TABLE, (_all, begin, marker, end) => {
    const { included, without } = typesOf(marker);
    const rows = included.flatMap((type) => reader.read(type, { without, anchors }));
    return [begin, '', ...toOptionTable(rows), '', end].join('\n');
  });
  const withErrors = withOptions.replaceAll(ERROR_TABLE, (_all, begin, marker, end) => {
    const groups = marker.split(' ');
    for (const group of groups) listed.add(group);
    return [begin, '', ...toErrorTable(groups.flatMap((group) => errors.get(group))), '', end].join('\n');
  });
  const written = withFigures(withErrors, (fault) => faults.push(`${page}: ${fault}`));
  const path = fileURLToPath(url);
  const formatted = await format(written, { ...(await resolveConfig(path)), filepath: path });
  if (formatted === markdown) continue;
  outdated.push(page);
  if (!process.argv.includes('--check')) writeFileSync(url, formatted);
}

const missing = reader.publicOptionTypes().filter((type) => !reader.documented.has(type));
const unlisted = [...errors.keys()].filter((group) => !listed.has(group));
faults.push(
  ...reader.faults,
  ...unlisted.map((group) => `${group} has no table in docs/: add <!-- errors: ${group} -->`),
  ...missing.map((type) => `${type} has no table in docs/: add <!-- options: ${type} -->`),
  ...(process.argv.includes('--check') ? outdated.map((page) => `${page} is out of date: npm run docs:tables`) : []),
);
for (const fault of new Set(faults)) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
