import { execFile } from 'node:child_process';

/** What a run of the command line ended with. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `nestjs-analytics-relay` with these arguments, as an installed package does. */
export function runCommand(...args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1' };
    execFile(process.execPath, ['bin/nestjs-analytics-relay.mjs', ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code as number) : 0, stdout, stderr });
    });
  });
}
