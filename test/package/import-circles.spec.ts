import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

function isTypeOnly(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  const { importClause } = statement;
  if (importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = importClause?.namedBindings;
  return !!bindings && ts.isNamedImports(bindings) && bindings.elements.every((element) => element.isTypeOnly);
}

/** The static imports of a file that are files of the project. */
function importsOf(from: string): Import[] {
  const source = ts.createSourceFile(from, readFileSync(join(root, from), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) return [];
    if (!moduleSpecifier.text.endsWith('.js')) return []; // styles
    const path = normalize(join(dirname(from), moduleSpecifier.text.replace(/js$/, 'ts')));
    const to = existsSync(join(root, `${path}x`)) ? `${path}x` : path;
    return [{ from, to, isTypeOnly: isTypeOnly(statement) }];
  });
}

/** The files that each file reaches by these imports. */
function closure(imports: Import[]): Map<string, Set<string>> {
  const direct = new Map<string, string[]>();
  for (const { from, to } of imports) direct.set(from, [...(direct.get(from) ?? []), to]);
  return new Map(
    [...direct.keys()].map((file) => {
      const reached = new Set<string>();
      const open = [file];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        for (const to of direct.get(next) ?? []) {
          if (!reached.has(to)) open.push(to);
          reached.add(to);
        }
      }
      return [file, reached];
    }),
  );
}

const imports = ['lib', 'dashboard', 'portal']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => /\.(c?ts|tsx)$/.test(file) && !file.endsWith('.d.cts'))
  .flatMap(importsOf);

it('lib/, dashboard/ and portal/ have no circle of imports, except of types within one folder', () => {
  expect(imports.length).toBeGreaterThan(500);
  const reached = closure(imports);
  const reachedAtRunTime = closure(imports.filter((each) => !each.isTypeOnly));
  const faults = imports.filter(
    ({ from, to, isTypeOnly }) =>
      (dirname(from) !== dirname(to) && reached.get(to)?.has(from)) ||
      (!isTypeOnly && reachedAtRunTime.get(to)?.has(from)),
  );
  expect(faults.map(({ from, to }) => `${from} -> ${to}`.replaceAll(sep, '/'))).toEqual([]);
});
