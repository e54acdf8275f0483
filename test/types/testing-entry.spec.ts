import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixture = `${root}test/types/matchers.user.ts`;

/** What the compiler says of a test that uses the matchers, and of the package's own types, without some packages. */
function diagnostics(source: string, hidden: RegExp): string[] {
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => file === fixture || (!hidden.test(file) && fileExists(file));
  host.getSourceFile = (file, target, ...rest) =>
    file === fixture ? ts.createSourceFile(file, source, target) : getSourceFile(file, target, ...rest);
  const program = ts.createProgram([fixture], options, host);
  return program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === fixture || fileName.startsWith(`${root}dist/esm/testing/`))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const JEST = /node_modules\/(@jest|@types\/jest|jest|expect)\b/;
const NONE = /^$/;

const recorder = `
  import { AnalyticsRecorder } from 'nestjs-analytics-relay/testing';
  declare const recorder: AnalyticsRecorder;
`;
const matchers = `
  expect(recorder).toHaveTracked('Order Completed', { orderId: 'o' });
  expect(recorder).not.toHaveIdentified('u');
`;

describe('The types of the testing entry', () => {
  it('know the matchers of @jest/globals', () => {
    const test = `import { expect } from '@jest/globals'; ${recorder} ${matchers}`;
    expect(diagnostics(test, NONE)).toEqual([]);
    expect(diagnostics(`${test} expect(recorder).toHaveTracked(5);`, NONE)).toEqual([
      `Argument of type 'number' is not assignable to parameter of type 'string'.`,
    ]);
  });

  it('know the matchers of the global expect', () => {
    const globalExpect = `declare const expect: (value: unknown) => jest.Matchers<void> & { not: jest.Matchers<void> };`;
    expect(diagnostics(`${recorder} ${globalExpect} ${matchers}`, JEST)).toEqual([]);
  });

  it('compile where Jest is not installed', () => {
    expect(diagnostics(`${recorder} export const { events } = recorder;`, JEST)).toEqual([]);
  });
});
