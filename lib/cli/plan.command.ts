import { readFile, writeFile } from 'node:fs/promises';

import { parseCommandArgs } from './command.args.js';
import { loadEvents } from './event.loader.js';
import { findFiles } from './file.finder.js';
import { toJsonDocument, toPlannedEvents } from './plan.document.js';
import { toMarkdown } from './plan.markdown.js';

export const PLAN_USAGE = `Usage: nestjs-analytics-relay plan [options] [file, folder or pattern ...]

Prints the tracking plan of an application: the track events that its compiled files export as classes with
@TrackedEvent, or made by defineEvent. Of a folder, files named *.event.js and *.events.js are read (also .mjs and
.cjs); all that is read is loaded, so name no file that starts the application.
Default: dist

  --json          as JSON Schema; default: as Markdown
  --out <file>    write it to a file
  --check <file>  print nothing, and fail where the file holds another plan
  --help          print this
`;

/**
 * Prints, writes or checks the tracking plan of an application.
 *
 * @returns The exit code: 1 where the checked file holds another plan.
 * @throws {Error} that tells what is wrong with the arguments or the files.
 */
export async function runPlan(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandArgs('plan', {
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean' }, out: { type: 'string' }, check: { type: 'string' } },
  });
  const files = await findFiles(positionals.length > 0 ? positionals : ['dist']);
  const events = toPlannedEvents(await loadEvents(files));
  const plan = values.json ? toJsonDocument(events) : toMarkdown(events);
  if (values.out !== undefined) await writeFile(values.out, plan);
  if (values.check !== undefined) return check(values.check, plan, values.json ? canonical : (text) => text);
  if (values.out === undefined) process.stdout.write(plan);
  return 0;
}

async function check(file: string, plan: string, normalise: (text: string) => string): Promise<number> {
  const kept = normalise((await readFile(file, 'utf8').catch(() => '')).replace(/\r\n/g, '\n'));
  if (kept === plan) return 0;
  const [keptLines, lines] = [kept.split('\n'), plan.split('\n')];
  const at = lines.findIndex((line, index) => line !== keptLines[index]);
  const index = at === -1 ? lines.length : at;
  process.stderr.write(
    `${file} does not hold the plan of these events. The first difference, in line ${index + 1}:\n` +
      `  file:   ${keptLines[index] ?? '(ends)'}\n  events: ${lines[index] ?? '(ends)'}\n` +
      `To take the events' plan over, run the command with --out in place of --check.\n`,
  );
  return 1;
}

/** JSON, however a formatter of the repository lays it out. */
function canonical(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}
