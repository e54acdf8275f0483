import { execFileSync } from 'node:child_process';

/** How to run a program so that it may do less than this one: its name and arguments. */
export type Wrapper = [string, ...string[]];

/** Whether a program runs, and ends well. */
export const works = (...[command, ...args]: Wrapper) => {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Runs a program in namespaces of its own, with a file system mounted. */
export const mounting = (folder: string, options: string): Wrapper => [
  ...(['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'] as const),
  `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`,
  folder,
];

/** Whether this process may do so. */
export const canMount = works(...mounting('/tmp', 'size=1m'), 'true');
