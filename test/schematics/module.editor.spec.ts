import typescript from 'typescript';
import { describe, expect, it } from 'vitest';

import { addShutdownHooks, addToImports, rootModuleOf } from '../../lib/schematics/module.editor.js';

const add = (text: string) =>
  addToImports(typescript, 'app.module.ts', text, 'AppModule', { name: 'AddedModule', specifier: './added.module' });

/** A module whose decorator has this argument. */
const withMetadata = (metadata: string) =>
  `import { Module } from '@nestjs/common';\n\n@Module(${metadata})\nexport class AppModule {}\n`;

describe('A module is added to the imports', () => {
  it.each([
    ['an empty list', '{\n  imports: [],\n}', '{\n  imports: [AddedModule],\n}'],
    ['a list on one line', '{ imports: [A.forRoot({ b: [] })] }', '{ imports: [AddedModule, A.forRoot({ b: [] })] }'],
    [
      'a list on many lines, with a comma at its end',
      '{\n  imports: [\n    A,\n    B,\n  ],\n}',
      '{\n  imports: [\n    AddedModule,\n    A,\n    B,\n  ],\n}',
    ],
    [
      'a list with comments, which stay where they are',
      '{\n  imports: [\n    // settings\n    A.forRoot({ b: 1 }), // first\n    B // last\n  ],\n}',
      '{\n  imports: [\n    AddedModule,\n    // settings\n    A.forRoot({ b: 1 }), // first\n    B // last\n  ],\n}',
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

  it('not where there is no module of this name', () => {
    expect(add('export const app = 1;\n')).toBeUndefined();
    expect(add(withMetadata('{}').replace('AppModule', 'OtherModule'))).toBeUndefined();
  });

  it('to the module of this name, where the file has others', () => {
    const other = '@Module({ imports: [] })\nclass OtherModule {}\n\n';
    const [before, after] = ['{ imports: [OtherModule] }', '{ imports: [AddedModule, OtherModule] }'];
    expect(add(other + withMetadata(before))).toBe(
      (other + withMetadata(after)).replace("common';\n", "common';\nimport { AddedModule } from './added.module';\n"),
    );
  });

  it('with its import after the last one and its comment', () => {
    expect(add(withMetadata('{}').replace("common';", "common'; // decorators"))).toMatch(
      "from '@nestjs/common'; // decorators\nimport { AddedModule } from './added.module';\n",
    );
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

  it('are enabled below a comment about the creation', () => {
    const text = main('  const app = await NestFactory.create(AppModule); // the shop\n');
    expect(addShutdownHooks(typescript, 'main.ts', text)).toMatch(
      /\(AppModule\); \/\/ the shop\n {2}app\.enableShutdownHooks\(\); \/\/ queued/,
    );
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
    [
      "import { AppModule } from './app.module';",
      'AppModule',
      { name: 'AppModule', specifier: './app.module', extension: '' },
    ],
    [
      "import { RootModule as AppModule } from './app.module';",
      'AppModule',
      { name: 'RootModule', specifier: './app.module', extension: '' },
    ],
    [
      "import { AppModule } from './app.module.ts';",
      'AppModule.forRoot()',
      { name: 'AppModule', specifier: './app.module', extension: '.ts' },
    ],
    [
      "import { Other, AppModule } from './a/app.module.js';",
      'AppModule',
      { name: 'AppModule', specifier: './a/app.module', extension: '.js' },
    ],
    ["import { AppModule } from '@shop/app';", 'AppModule', undefined],
    ['class AppModule {}', 'AppModule', undefined],
  ])('%s', (line, name, expected) => {
    const text = `${line}\n// NestFactory.create(OldModule)\nconst app = await NestFactory.create(${name});\n`;
    expect(rootModuleOf(typescript, 'main.ts', text)).toEqual(expected);
  });
});
