import { createRequire } from 'node:module';
import { join } from 'node:path';

const PACKAGE = 'nestjs-analytics-relay/package.json';

/**
 * Finds a file from which `libsql` can be required.
 *
 * For a bundle, that is the bundle itself, or else this package if it is installed beside it: with pnpm, only this
 * package can resolve its dependencies.
 *
 * @throws {Error} that says what to install, and where
 */
export function findLibsql(): string {
  // Only a bundle of ES modules has no `__filename`.
  const places = [
    typeof __filename === 'string' ? __filename : (process.argv[1] ?? process.cwd()),
    join(process.cwd(), 'package.json'),
  ];
  for (const place of places) {
    for (const file of [place, resolveFrom(place, PACKAGE)]) {
      if (file !== undefined && resolveFrom(file, 'libsql') !== undefined) return file;
    }
  }
  throw new Error(
    `this version of ${process.versions.bun === undefined ? 'Node' : 'Bun'} has no node:sqlite, and the package libsql ` +
      `is not installed, searched from ${places.join(' and ')}. Use Node 22.13 or later, or run npm install libsql@0.5 ` +
      'where the application runs: bundlers leave it out because it is native code',
  );
}

/**
 * Explains an error with which the thread ended.
 *
 * `libsql` is installed as two packages, and the second one depends on the platform.
 */
export function explainThreadError({ code, message }: NodeJS.ErrnoException): string {
  const [, name] = /'(@libsql\/[^']+)'/.exec(message) ?? [];
  if (code !== 'MODULE_NOT_FOUND' || name === undefined) return message;
  return (
    `the package ${name}, the native code of libsql for this platform, is not installed: ` +
    'run npm install on this platform, with optional dependencies'
  );
}

function resolveFrom(file: string, name: string): string | undefined {
  try {
    return createRequire(file).resolve(name);
  } catch {
    return undefined;
  }
}
