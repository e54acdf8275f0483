import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts a script of this folder as a process. */
export function start(script, args = [], execArgv = []) {
  return fork(fileURLToPath(new URL(script, import.meta.url)), args.map(String), { execArgv });
}

/** The next message that a process sends. */
export function answer(child) {
  return new Promise((resolve, reject) => {
    const onExit = (code) => reject(new Error(`${child.spawnargs.slice(1).join(' ')} ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}

/** Runs a script of this folder and returns the one message that it sends. */
export function result(script, args, execArgv) {
  return answer(start(script, args, execArgv));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
