import { isBuiltin } from 'node:module';

import { describe, expect, it } from 'vitest';

import { add, NEW_FILES } from './support/add.js';

const { 'src/main.ts': MAIN } = NEW_FILES;

describe('nest add', () => {
  it('imports the module as the main file imports the root module', () => {
    const { files, warnings } = add(NEW_FILES);
    expect(warnings).toEqual([]);
    expect(files.get('src/app.module.ts')).toMatch("from './product-analytics.module.ts';");
    expect(files.get('src/product-analytics.module.ts')).toMatch('export class ProductAnalyticsModule');
    expect(files.get('src/main.ts')).toMatch('app.enableShutdownHooks();');
  });

  it('adds the module to the root module, where its file has others', () => {
    const modules = '@Module({ imports: [] })\nclass OtherModule {}\n\n@Module({ imports: [] })\nclass AppModule {}\n';
    const { files } = add({ ...NEW_FILES, 'src/app.module.ts': modules });
    expect(files.get('src/app.module.ts')).toMatch(
      '[] })\nclass OtherModule {}\n\n@Module({ imports: [ProductAnalyticsModule] })\nclass AppModule {}',
    );
  });

  it('adds class-validator where events are declared as classes', () => {
    const added = (typedEvents?: boolean) => add(NEW_FILES, { typedEvents }).files.get('package.json');
    expect(added()).not.toMatch('class-validator');
    expect(added(true)).toMatch('"class-validator": "^0.15.1"');
  });

  it('adds libsql where Node has no node:sqlite, and says so', () => {
    const { files, lines } = add(NEW_FILES);
    const isNeeded = !isBuiltin('node:sqlite');
    expect(files.get('package.json')!.includes('"libsql": "^0.5.29"')).toBe(isNeeded);
    expect(/npm install libsql/.test(lines.join('\n'))).toBe(isNeeded);
    const present = { ...NEW_FILES, 'package.json': '{"dependencies":{"libsql":"0.5.1"}}' };
    expect(add(present).files.get('package.json')).toBe(present['package.json']);
  });

  it('says how the settings are loaded', () => {
    const { files, lines } = add(NEW_FILES);
    for (const text of [lines.join('\n'), files.get('.env.example')]) {
      expect(text).toMatch(/cp \.env\.example \.env.*ConfigModule.*npx nest start --env-file \.env$/ms);
    }
  });

  it('warns if it does not find the root module, and adds the rest', () => {
    const { files, warnings } = add({ ...NEW_FILES, 'src/main.ts': MAIN.replace('./app.module.ts', 'src/app.module') });
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
