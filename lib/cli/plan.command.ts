import { readFile, writeFile } from 'node:fs/promises';

import { errorMessage } from '../client/error.util.js';
import { type EventSchema, toEventSchemas } from '../common/event-class/event-schema.util.js';
import { argumentFault, defineCommand, toJson } from './command.util.js';
import { loadEvents } from './event.loader.js';
import { toMarkdown } from './plan-markdown.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay plan [options] [file or folder ...]

Prints the tracking plan of an application: the track events that its compiled files declare with @TrackedEvent or
defineEvent, and export. In a folder, only files named *.event.js and *.events.js are read (also .mjs and .cjs). The
command imports each file, so do not pass one that starts the application. Default: dist

  --json          use JSON Schema; default: Markdown
  --out <file>    write the plan to a file instead of printing it
  --check <file>  compare the plan with a file instead of printing it, and fail if they differ
  --help          show this help
`,
  allowPositionals: true,
  options: { json: { type: 'boolean' }, out: { type: 'string' }, check: { type: 'string' } },
  run: async (values, paths) => {
    const events = toEventSchemas(await loadEvents(paths.length > 0 ? paths : ['dist']));
    const text = values.json ? toJsonDocument(events) : toMarkdown(events);
    if (values.out !== undefined) await write(values.out, text);
    if (values.check !== undefined) return check(values.check, text, values.json ? canonical : unpadded);
    if (values.out === undefined) process.stdout.write(text);
    return 0;
  },
});

/** Converts the plan to one JSON Schema document: each event's properties under its name in `$defs`. */
function toJsonDocument(events: EventSchema[]): string {
  const $defs = Object.fromEntries(events.map(({ name, schema }) => [name, schema]));
  return toJson({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Tracking plan', $defs });
}

/** Returns exit code 1 if the file has another plan. */
async function check(file: string, text: string, normalise: (text: string) => string): Promise<number> {
  const kept = normalise((await read(file)).replace(/\r\n/g, '\n'));
  const expected = normalise(text);
  if (kept === expected) return 0;
  const [keptLines, lines] = [kept.split('\n'), expected.split('\n')];
  const at = lines.findIndex((line, index) => line !== keptLines[index]);
  const index = at === -1 ? lines.length : at;
  process.stderr.write(
    `${file} does not match the tracking plan. First difference at line ${index + 1}:\n` +
      `  file:   ${keptLines[index] ?? '(end of file)'}\n  events: ${lines[index] ?? '(end of file)'}\n` +
      `To update the file, run the command with --out instead of --check.\n`,
  );
  return 1;
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw argumentFault(`${file} cannot be written: ${errorMessage(error)}`);
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw argumentFault(`${file} does not exist; create it with --out`);
    throw argumentFault(`${file} cannot be read: ${message}`);
  }
}

/** Removes the padding of tables, because a formatter of the repository may measure characters differently. */
function unpadded(text: string): string {
  return text.replace(/^\|.*$/gm, (row) => row.replace(/ {2,}/g, ' ').replace(/-{2,}/g, '-'));
}

/** Normalises JSON, because a formatter of the repository may lay it out differently. */
function canonical(text: string): string {
  try {
    return toJson(JSON.parse(text));
  } catch {
    return text;
  }
}
