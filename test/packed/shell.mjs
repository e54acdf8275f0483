import { spawn } from 'node:child_process';
import { createConnection, createServer } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** Longest run of a command, in ms: an install on a machine that is busy. */
const COMMAND_TIMEOUT = 300_000;

/** The environment of a reader: without what `npm run` adds, which names this package, and without `CI`. */
function cleanEnv() {
  const own = /^npm_(package|lifecycle)_|^npm_config_local_prefix$|^INIT_CWD$|^CI$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

/** Returns the CPU time of a shell's children in ms, from what its `times` printed. */
function childrenTime(times) {
  const [, children = ''] = times.split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + (m * 60 + Number(s)) * 1_000, 0);
}

/** A command line in a shell; its output grows, and others wait for something in it. */
export class Command {
  /** CPU time that it took, in ms; 0 until it has ended, and after a SIGKILL. */
  cpu = 0;
  output = '';
  code;
  waiting = [];

  constructor(line, { cwd, env = {} }) {
    this.line = line;
    // A group of its own: npm and a shell stand between the command and the application.
    const timed = `trap 'times >&3' EXIT; trap 'exit 130' INT; { ${line}\n} 3>&-`;
    this.child = spawn('sh', ['-c', timed], {
      cwd,
      env: { ...cleanEnv(), NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    let times = '';
    this.child.stdio[3].setEncoding('utf8').on('data', (text) => (times += text));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.output += stripVTControlCharacters(text); // the Nest 11 command line ignores NO_COLOR
        this.settle();
      });
    }
    const timer = setTimeout(() => this.stop('SIGKILL'), COMMAND_TIMEOUT);
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        clearTimeout(timer);
        this.code = code ?? signal;
        this.cpu = childrenTime(times);
        this.settle();
        resolve(this.code);
      });
    });
  }

  /** Resolves once the output matches; rejects when the command ends before, or after `timeout` ms. */
  prints(pattern, timeout = COMMAND_TIMEOUT) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(new Error(`did not print ${pattern} within ${timeout} ms`)), timeout);
      const settle = (problem) => {
        clearTimeout(timer);
        this.waiting = this.waiting.filter((one) => one !== check);
        if (problem) reject(new Error(`${this.line}: ${problem.message}\n${this.output}`));
        else resolve();
      };
      const check = () => {
        if (pattern.test(this.output)) settle();
        else if (this.code !== undefined) settle(new Error(`ended with ${this.code} before it printed ${pattern}`));
      };
      this.waiting.push(check);
      check();
    });
  }

  stop(signal) {
    if (this.code === undefined) process.kill(-this.child.pid, signal);
  }

  settle() {
    for (const check of this.waiting) check();
  }
}

/** Runs a command to its end; resolves with its output, and rejects where it fails. Adds its CPU time to `usage`. */
export async function run(line, { usage, ...options }) {
  const command = new Command(line, options);
  const code = await command.ended;
  if (usage) usage.cpu += command.cpu;
  if (code !== 0) throw new Error(`${line} in ${options.cwd} ended with ${code}:\n${command.output}`);
  return command.output;
}

/** This port if it is free, or another one. */
export async function freePort(wanted) {
  for (const port of [wanted, 0]) {
    const server = createServer();
    const opened = await new Promise((resolve) => {
      server.on('error', () => resolve(undefined)).listen(port, () => resolve(server.address().port));
    });
    if (opened === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return opened;
  }
}

/** Resolves once a port of this machine takes connections. */
export async function waitForPort(port) {
  for (;;) {
    const isOpen = await new Promise((resolve) => {
      const socket = createConnection(port, 'localhost', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await sleep(50);
  }
}
