#!/usr/bin/env node
import { main } from '../dist/esm/cli/main.js';

process.stdout.on('error', ({ code, message }) => {
  // The reader of a pipe, such as head, may close it.
  if (code !== 'EPIPE') process.stderr.write(`standard output: ${message}\n`);
  process.exit(1);
});

const exitCode = await main(process.argv.slice(2));
// The application's files may have started timers or servers, which would keep the process alive.
process.stderr.write('', () => process.stdout.write('', () => process.exit(exitCode)));
