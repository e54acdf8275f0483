import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';

import { Logger } from '@nestjs/common';
import { vi } from 'vitest';

import type * as Cli from '../../lib/cli/main.js';
import type { Afterwards } from './clean-ups.js';
import { watchListeners } from './process-listeners.js';
import { waitFor } from './wait-for.js';

/** What a run of the command line ended with. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

const { main } = (await import(new URL('../../dist/esm/cli/main.js', import.meta.url).href)) as typeof Cli;

let last: Promise<unknown> = Promise.resolve();

/** Runs `nestjs-analytics-relay` in this process; commands that are run side by side wait for each other. */
export function runCommand(...args: string[]): Promise<CommandResult> {
  return runCommandIn('.', ...args);
}

/** As {@link runCommand}, in another folder. */
export function runCommandIn(folder: string, ...args: string[]): Promise<CommandResult> {
  const run = async () => {
    const written = { stdout: '', stderr: '' };
    const { log, info, debug } = console;
    const before = process.cwd();
    process.chdir(folder);
    const removeListeners = watchListeners('SIGINT', 'SIGTERM');
    const spies = (['stdout', 'stderr'] as const).map((name) =>
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        written[name] += String(text);
        return true;
      }),
    );
    try {
      return { code: await main(args), ...written };
    } finally {
      process.chdir(before);
      spies.forEach((spy) => spy.mockRestore());
      Object.assign(console, { log, info, debug }); // of a command that imports an application's files
      removeListeners(); // a command leaves them to the end of its process
      Logger.overrideLogger(false); // a command has replaced it
    }
  };
  const result = last.then(run);
  last = result.catch(() => undefined);
  return result;
}

/** Runs `nestjs-analytics-relay` as an installed package does, in a process of its own. */
export function spawnCommand(...args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1' };
    execFile(process.execPath, ['bin/nestjs-analytics-relay.mjs', ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code as number) : 0, stdout, stderr });
    });
  });
}

/** A command that runs until it is stopped, in a process of its own. */
export class RunningCommand {
  stdout = '';
  stderr = '';
  readonly exited: Promise<number | null>;

  constructor(afterwards: Afterwards, args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, ['bin/nestjs-analytics-relay.mjs', ...args], {
      env: { ...process.env, ...env },
    });
    child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exited = once(child, 'close').then(([code]) => code as number | null);
    this.stop = () => (child.kill('SIGTERM'), this.exited);
    afterwards(this.stop);
  }

  readonly stop: () => Promise<number | null>;

  /** Resolves with the match once the command has printed it. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const what = () => `${pattern} in ${JSON.stringify(this.stdout)}, standard error ${JSON.stringify(this.stderr)}`;
    await waitFor(() => pattern.test(this.stdout), what);
    return pattern.exec(this.stdout)!;
  }
}
