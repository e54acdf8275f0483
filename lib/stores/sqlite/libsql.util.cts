import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Finds a file from which `libsql` can be required: this one, or a bundle that has it, or one of the working directory.
 *
 * @throws {Error} that says what to install, and where
 */
export function findLibsql(): string {
  // Only a bundle of ES modules has no `__filename`.
  const places = [
    typeof __filename === 'string' ? __filename : (process.argv[1] ?? process.cwd()),
    join(process.cwd(), 'package.json'),
  ];
  const found = places.find(canRequire);
  if (found !== undefined) return found;
  throw new Error(
    'this version of Node has no node:sqlite, and the package libsql is not installed, searched from ' +
      `${places.join(' and ')}. Use Node 22.13 or later, or run npm install libsql@0.5 where the application runs`,
  );
}

/**
 * Explains an error of the thread.
 *
 * `libsql` is installed as two packages, and the second one depends on the platform.
 */
export function explainThreadError(message: string): string {
  const [, name] = /^Cannot find module '(@libsql\/[^']+)'/.exec(message) ?? [];
  if (name === undefined) return message;
  return (
    `the package ${name}, the native code of libsql for this platform, is not installed: ` +
    'run npm install on this platform, with optional dependencies'
  );
}

function canRequire(file: string): boolean {
  try {
    createRequire(file).resolve('libsql');
    return true;
  } catch {
    return false;
  }
}
