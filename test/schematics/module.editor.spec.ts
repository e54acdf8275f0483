import { describe, expect, it } from '@jest/globals';
import typescript from 'typescript';

import { addShutdownHooks, addToImports, rootModuleOf } from '../../lib/schematics/module.editor.js';

const add = (text: string) => addToImports(typescript, 'app.module.ts', text, 'AddedModule', './added.module');

/** A module whose decorator has this argument. */
const withMetadata = (metadata: string) =>
  `import { Module } from '@nestjs/common';\n\n@Module(${metadata})\nexport class AppModule {}\n`;

describe('A module is added to the imports', () => {
  it.each([
    ['an empty list', '{\n  imports: [],\n}', '{\n  imports: [AddedModule],\n}'],
    ['a list on one line', '{ imports: [A.forRoot({ b: [] })] }', '{ imports: [A.forRoot({ b: [] }), AddedModule] }'],
    [
      'a list on many lines, with a comma at its end',
      '{\n  imports: [\n    A,\n    B,\n  ],\n}',
      '{\n  imports: [\n    A,\n    B,\n    AddedModule,\n  ],\n}',
    ],
    ['none', '{\n  controllers: [],\n}', '{\n  imports: [AddedModule],\n  controllers: [],\n}'],
    ['no metadata', '{}', '{\n  imports: [AddedModule],\n}'],
  ])('where there is %s', (_, before, after) => {
    expect(add(withMetadata(before))).toBe(
      withMetadata(after).replace("common';\n", "common';\nimport { AddedModule } from './added.module';\n"),
    );
  });

  it('once', () => {
    const text = withMetadata('{ imports: [AddedModule] }');
    expect(add(text)).toBe(text);
  });

  it.each(['{ imports: all }', '{ imports }', 'metadata', ''])('not to what is no list: @Module(%s)', (metadata) => {
    expect(add(withMetadata(metadata))).toBeUndefined();
  });

  it('not where there is no module', () => {
    expect(add('export const app = 1;\n')).toBeUndefined();
  });
});

describe('Shutdown hooks', () => {
  const main = (body: string) => `async function bootstrap() {\n${body}}\n`;
  const create =
    '  const app = await NestFactory.create<NestExpressApplication>(AppModule, {\n    rawBody: true,\n  });\n';

  it('are enabled once the application is created, and once', () => {
    const enabled = addShutdownHooks(typescript, 'main.ts', main(`${create}  await app.listen(3000);\n`))!;
    expect(enabled).toMatch(/ {2}\}\);\n {2}app\.enableShutdownHooks\(\);.*\n {2}await app\.listen/);
    expect(addShutdownHooks(typescript, 'main.ts', enabled)).toBe(enabled);
  });

  it('are enabled within an arrow function, and where a comment mentions them', () => {
    const text = `const bootstrap = async () => {\n  // app.enableShutdownHooks();\n${create}};\n`;
    const enabled = addShutdownHooks(typescript, 'main.ts', text)!;
    expect(enabled).toMatch(/ {2}\}\);\n {2}app\.enableShutdownHooks\(\);.*\n\};/);
  });

  it.each([
    'void run(NestFactory.create(AppModule));',
    'const app = NestFactory.create(AppModule);',
    'const app = NestFactory.create(AppModule).then(listen);',
    'const { app } = await NestFactory.create(AppModule);',
    '// const app = await NestFactory.create(AppModule);',
  ])('are not enabled where no name is that of a created application: %s', (line) => {
    expect(addShutdownHooks(typescript, 'main.ts', main(`  ${line}\n`))).toBeUndefined();
  });
});

describe('The root module', () => {
  it.each([
    ["import { AppModule } from './app.module';", 'AppModule', { specifier: './app.module', extension: '' }],
    [
      "import { AppModule } from './app.module.ts';",
      'AppModule.forRoot()',
      { specifier: './app.module', extension: '.ts' },
    ],
    [
      "import { Other, AppModule } from './a/app.module.js';",
      'AppModule',
      { specifier: './a/app.module', extension: '.js' },
    ],
    ["import { AppModule } from '@shop/app';", 'AppModule', undefined],
    ['class AppModule {}', 'AppModule', undefined],
  ])('%s', (line, name, expected) => {
    const text = `${line}\n// NestFactory.create(OldModule)\nconst app = await NestFactory.create(${name});\n`;
    expect(rootModuleOf(typescript, 'main.ts', text)).toEqual(expected);
  });
});
