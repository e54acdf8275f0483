// Writes the tables of options in docs/ from the options' own doc comments: node scripts/option-tables.mjs [--check]
// A table stands between `<!-- options: Type -->` and `<!-- /options -->`. Several types share a table, separated by
// spaces; `without Type` leaves out the properties that Type declares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { format, resolveConfig } from 'prettier';

import { slugOf } from './heading-slug.mjs';
import { OptionReader } from './option-reader.mjs';

const TABLE = /(<!-- options: ([\w ]+) -->)[^]*?(<!-- \/options -->)/g;
const docs = new URL('../docs/', import.meta.url);

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

function toTable(rows) {
  const escape = (text) => text.replaceAll('|', '\\|');
  const lines = rows.map(({ name, type, defaultValue, text }) =>
    [`\`${name}\``, type, defaultValue, text].map(escape).join(' | '),
  );
  return ['option | type | default | description', '--- | --- | --- | ---', ...lines].map((line) => `| ${line} |`);
}

const reader = new OptionReader(fileURLToPath(new URL('../', import.meta.url)));
const outdated = [];
for (const page of readdirSync(docs).filter((name) => name.endsWith('.md'))) {
  const url = new URL(page, docs);
  const markdown = readFileSync(url, 'utf8');
  if (!markdown.includes('<!-- options:')) continue;
  const anchors = anchorsOf(markdown);
  const written = markdown.replaceAll(TABLE, (_all, begin, marker, end) => {
    const { included, without } = typesOf(marker);
    const rows = included.flatMap((type) => reader.read(type, { without, anchors }));
    return [begin, '', ...toTable(rows), '', end].join('\n');
  });
  const path = fileURLToPath(url);
  const formatted = await format(written, { ...(await resolveConfig(path)), filepath: path });
  if (formatted === markdown) continue;
  outdated.push(page);
  if (!process.argv.includes('--check')) writeFileSync(url, formatted);
}

const missing = reader.publicOptionTypes().filter((type) => !reader.documented.has(type));
const faults = [
  ...reader.faults,
  ...missing.map((type) => `${type} has no table in docs/: add <!-- options: ${type} -->`),
  ...(process.argv.includes('--check')
    ? outdated.map((page) => `docs/${page} is out of date: npm run docs:options`)
    : []),
];
for (const fault of new Set(faults)) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
