import assert from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { documentedInstalls, documentedTests } from './readme.mjs';
import { run } from './shell.mjs';

/** Imports every entry point of the package, both ways, and names those that fail. */
const IMPORTS = `
  const { createRequire } = await import('node:module');
  const require = createRequire(process.cwd() + '/package.json');
  const { exports } = require('nestjs-analytics-relay/package.json');
  for (const entry of Object.keys(exports)) {
    if (entry === './package.json' || entry === './testing') continue; // for tests only
    const name = 'nestjs-analytics-relay' + entry.slice(1);
    if (Object.keys(await import(name)).length !== Object.keys(require(name)).length) throw new Error(name);
    console.log(name);
  }
`;

/** The packages that npm says do not support this Node. */
const unsupported = (output) => [...output.matchAll(/EBADENGINE +package: '([^']+)'/g)].map(([, name]) => name);

/**
 * In an application: the tests of docs/testing.md as they are, and then every `npm install` that a page names.
 *
 * @param generated what npm says of the application as the Nest command line has made it
 */
export async function documented({ app, env, generated, print }) {
  const type = async (line) => {
    print(`$ ${line}`);
    const output = await run(line, { cwd: app, env });
    print(output.trimEnd());
    return output;
  };

  const tests = documentedTests();
  for (const { path, text } of tests) writeFileSync(join(app, path), text);
  await type('npx tsc --noEmit');
  const output = await type('npm test');
  for (const { path } of tests) assert.ok(output.includes(path), `${path} has not run`);

  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const { command, page } of documentedInstalls()) {
    print(`# ${page}`);
    // docs/upgrading.md installs a version that is not published yet.
    const line = command.replace(/(nestjs-analytics-relay)@\S+/, `$1@${version}`);
    const installed = await type(line);
    assert.doesNotMatch(installed, /ERESOLVE/, `${page}: ${line}`);
    const known = unsupported(generated); // on Node 20, those of the Nest 12 command line
    const others = unsupported(installed).filter((name) => !known.includes(name));
    assert.deepStrictEqual(others, [], `${page}: ${line}`);
  }
  writeFileSync(join(app, 'imports.mjs'), IMPORTS);
  await type('node imports.mjs');
  await type('npm ls');
  await type('npm run build');
  await type('npm test');
  await type('npm run test:e2e');
}
