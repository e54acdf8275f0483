import { describe } from '../common/error.util.js';
import { runPlan } from './plan.command.js';

const USAGE = `Usage: nestjs-analytics-relay plan [options] [file, folder or pattern ...]

Prints the tracking plan of an application: the track events that its compiled files export as classes with
@TrackedEvent, or made by defineEvent. Of a folder, files named *.event.js and *.events.js are read (also .mjs and
.cjs); all that is read is loaded, so name no file that starts the application.
Default: dist

  --json          as JSON Schema; default: as Markdown
  --out <file>    write it to a file
  --check <file>  print nothing, and fail where the file holds another plan
  --help          print this
`;

/** The exit code. */
async function main([command, ...args]: string[]): Promise<number> {
  if (command === 'plan' && !args.includes('--help')) return runPlan(args);
  const isAsked = command === 'plan' || command === '--help' || command === 'help';
  (isAsked ? process.stdout : process.stderr).write(USAGE);
  return isAsked ? 0 : 1;
}

main(process.argv.slice(2)).then(
  // What the application's files have started does not keep the command from ending.
  (code) => process.stdout.write('', () => process.exit(code)),
  (error: unknown) => {
    process.stderr.write(`${describe(error)}\n`, () => process.exit(1));
  },
);
