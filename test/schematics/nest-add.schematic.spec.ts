import { describe, expect, it } from '@jest/globals';

import { nestAdd } from '../../lib/schematics/nest-add.schematic.js';

const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';

const app = await NestFactory.create(AppModule);
await app.listen(3000);
`;

/** Runs the schematic on these files; returns the files and the warnings. */
function add(files: Record<string, string>) {
  const all = new Map(Object.entries({ 'package.json': '{}', ...files }));
  const warnings: string[] = [];
  const put = (path: string, content: string) => void all.set(path, content);
  const read = (path: string) => (all.has(path) ? Buffer.from(all.get(path)!) : null);
  nestAdd({})(
    { read, exists: (path) => all.has(path), create: put, overwrite: put },
    { logger: { info: () => undefined, warn: (line) => warnings.push(line) }, addTask: () => undefined },
  );
  return { files: all, warnings };
}

describe('nest add', () => {
  it('imports the module as the main file imports the root module', () => {
    const { files, warnings } = add({ 'src/main.ts': MAIN, 'src/app.module.ts': '@Module({})\nclass AppModule {}\n' });
    expect(warnings).toEqual([]);
    expect(files.get('src/app.module.ts')).toMatch("from './product-analytics.module.ts';");
    expect(files.get('src/product-analytics.module.ts')).toMatch('export class ProductAnalyticsModule');
    expect(files.get('src/main.ts')).toMatch('app.enableShutdownHooks();');
  });

  it('warns if it does not find the root module, and adds the rest', () => {
    const { files, warnings } = add({ 'src/main.ts': MAIN.replace('./app.module.ts', 'src/app.module') });
    expect(warnings).toEqual([
      expect.stringMatching(/not recognised in src\/main\.ts\. Do this by hand: add ProductAnalyticsModule of src\//),
    ]);
    expect(files.get('src/main.ts')).toMatch('app.enableShutdownHooks();');
    expect(() => add({})).toThrow('src/main.ts was not found');
  });

  it.each([
    ['/test/data/\n# /data/\n', '/test/data/\n# /data/\n\n# The queue of nestjs-analytics-relay\n/data/\n'],
    ['dist\r\n/data/\r\n', 'dist\r\n/data/\r\n'],
    ['data\n', 'data\n'],
  ])('ignores the folder of the queue, once: %j', (before, after) => {
    expect(add({ 'src/main.ts': MAIN, '.gitignore': before }).files.get('.gitignore')).toBe(after);
  });
});
