import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { loadPackage } from './package-under-test.js';
import { PLANTED_FAULTS } from './planted-faults.js';
import { simulate } from './simulate.js';
import { simulateClient } from './simulate-client.js';
import { withSimulatedTime } from './simulated-time.js';

/** Most scenarios that a fault may survive. */
const SEEDS = 5_000;

/** Beside the dependencies, which the copies load too. */
const FOLDER = `${process.cwd()}/node_modules/.cache/simulation`;

describe('The simulation finds', () => {
  beforeAll(async () => {
    await rm(FOLDER, { recursive: true, force: true });
    await mkdir(FOLDER, { recursive: true });
    await writeFile(`${FOLDER}/package.json`, '{"type":"module"}');
  });
  afterAll(() => rm(FOLDER, { recursive: true, force: true }));

  it.each(PLANTED_FAULTS.map((fault, index) => ({ ...fault, index })))('$name', async (fault) => {
    const copy = `${FOLDER}/${fault.index}`;
    await cp('dist/esm', copy, { recursive: true, filter: (path) => !path.endsWith('.d.ts') });
    const path = `${copy}/${fault.file}`;
    const text = await readFile(path, 'utf8');
    const planted = text.replace(fault.find, () => fault.replace);
    expect(planted).not.toBe(text);
    if (typeof fault.find === 'string') expect(text.split(fault.find)).toHaveLength(2);
    await writeFile(path, planted);
    const code = await loadPackage(copy);
    const found = await withSimulatedTime(async (use) => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { violations } = await (fault.isOfClient ? simulateClient : simulate)(code, use, seed);
        if (violations.length > 0) return { seed, rule: violations[0] };
      }
      return undefined;
    });
    process.stdout.write(`${found?.seed ?? 'not found'}: ${fault.name} ("${found?.rule}")\n`);
    expect(found).toBeDefined();
  });
});
