import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import type { Page, Snippet } from './page.js';

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** What `nest new` of Nest 12 writes to tsconfig.json, but all of `strict`. It offers both kinds of modules. */
const { options } = ts.convertCompilerOptionsFromJson(
  {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    resolvePackageJsonExports: true,
    esModuleInterop: true,
    isolatedModules: true,
    declaration: true,
    removeComments: true,
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    allowSyntheticDefaultImports: true,
    target: 'ES2023',
    skipLibCheck: true,
    strict: true,
    types: ['vitest/globals', 'node'],
  },
  packages,
);
const formats = { esm: { type: 'module' }, commonjs: { type: 'commonjs' } };

/** What `nest new` writes, and a page may import or replace. */
const APP_MODULE = `import { Module } from '@nestjs/common';

@Module({})
export class AppModule {}
`;

/** A block may use what only ES modules have, and no reader expects it to work elsewhere. */
const TOP_LEVEL_AWAIT_IN_COMMONJS = 1309;

/** Declarations of packages are the same for every page. */
const declarations = new Map<string, ts.SourceFile | undefined>();

/**
 * Writes the blocks of a page into a folder, once as an application of ES modules (`esm/`) and once in CommonJS
 * (`commonjs/`), and compiles them, each beside its source.
 *
 * @returns what the compiler has to say: page, line, format and message.
 */
export function compilePage(page: Page, folder: string): string[] {
  symlinkSync(packages, join(folder, 'node_modules'));
  const snippets = new Map<string, { snippet: Snippet; format: string }>();
  for (const [format, manifest] of Object.entries(formats)) {
    write(join(folder, format, 'package.json'), JSON.stringify(manifest));
    write(join(folder, format, 'src/app.module.ts'), APP_MODULE);
    for (const snippet of page.snippets) {
      snippets.set(write(join(folder, format, snippet.file), snippet.code), { snippet, format });
    }
  }
  const program = ts.createProgram({
    rootNames: [...snippets.keys()],
    options: { ...options, typeRoots: [join(packages, '@types'), packages] },
    host: createHost(),
  });
  program.emit();
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ code }) => code !== TOP_LEVEL_AWAIT_IN_COMMONJS)
    .map(({ file, start, code, messageText }) => {
      const text = `TS${code} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      const written = file && snippets.get(file.fileName);
      if (!written) return `${file?.fileName}: ${text}`;
      const line = written.snippet.line + file.getLineAndCharacterOfPosition(start!).line;
      return `${page.name}:${line} (${written.format}) ${text}`;
    });
}

function write(path: string, content: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function createHost(): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, ...rest) => {
    if (!/\.d\.[cm]?ts$/.test(file)) return getSourceFile(file, ...rest);
    if (!declarations.has(file)) declarations.set(file, getSourceFile(file, ...rest));
    return declarations.get(file);
  };
  return host;
}
