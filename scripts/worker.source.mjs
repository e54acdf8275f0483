import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';

const FOLDER = 'webhook-destination/queue/sqlite';
const ENTRY = `${FOLDER}/sqlite.worker.cjs`;

/**
 * Writes the code of the SQLite worker as one text, from the CommonJS files that it is built of.
 *
 * A thread that starts from a text needs no file that a bundler would have to know and carry along.
 *
 * @param {URL} dist the folder of a build
 */
export function writeWorkerSource(dist) {
  const files = new Map();
  const add = (path) => {
    if (files.has(path)) return;
    files.set(path, '');
    const code = readFileSync(new URL(path, dist), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
    const linked = code.replace(/\brequire\("(\.[^"]+)"\)/g, (_, to) => {
      const target = posix.join(posix.dirname(path), to);
      add(target);
      return `require(${JSON.stringify(target)})`;
    });
    files.set(path, linked);
  };
  add(ENTRY);
  const source = `{
const { createRequire } = process.getBuiltinModule('node:module');
const requireInstalled = createRequire(process.getBuiltinModule('node:worker_threads').workerData.driver);
const loaded = {};
const files = {
${[...files].map(([path, code]) => `${JSON.stringify(path)}: (exports, require) => {\n${code}\n},`).join('\n')}
};
const load = (name) => {
  if (!(name in files)) return requireInstalled(name);
  if (!(name in loaded)) files[name]((loaded[name] = {}), load);
  return loaded[name];
};
load(${JSON.stringify(ENTRY)});
}`;
  writeFileSync(
    new URL(`${FOLDER}/sqlite-worker.source.cjs`, dist),
    `"use strict";\nexports.sqliteWorkerSource = ${JSON.stringify(source)};\n`,
  );
}
