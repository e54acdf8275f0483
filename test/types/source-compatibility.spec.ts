import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixture = `${root}test/types/segment-user.ts`;
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of the fixture, importing this package in place of the one it names, and of its types. */
function diagnostics(packageName: string, resolution: ts.CompilerOptions): string[] {
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    target: ts.ScriptTarget.ES2022,
    ...resolution,
  };
  const source = readFileSync(fixture, 'utf8').replace(`from '@segment/analytics-node'`, `from '${packageName}'`);
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) => {
    if (file === fixture) return ts.createSourceFile(file, source, ...(rest.slice(0, 1) as [ts.ScriptTarget]));
    if (!parsed.has(file)) parsed.set(file, parse(file, ...rest));
    return parsed.get(file);
  };
  const program = ts.createProgram([fixture], options, host);
  return program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === fixture || fileName.startsWith(`${root}dist/`))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ file, start, messageText }) => {
      const line = file!.getLineAndCharacterOfPosition(start!).line + 1;
      return `${file!.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
}

describe('code written for @segment/analytics-node', () => {
  it.each([
    ['that package', '@segment/analytics-node', { module: ts.ModuleKind.NodeNext }],
    ['ours, with the resolution of Node', 'nestjs-analytics-relay/client', { module: ts.ModuleKind.NodeNext }],
    [
      'ours, with the resolution of bundlers',
      'nestjs-analytics-relay/client',
      { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ],
  ])('type-checks against %s', (_name, packageName, resolution) => {
    expect(diagnostics(packageName, resolution)).toEqual([]);
  });

  it('does not type-check against ours where it is wrong', () => {
    const wrong = diagnostics('nestjs-analytics-relay/missing', { module: ts.ModuleKind.NodeNext });
    expect(wrong[0]).toContain('Cannot find module');
  });
});
