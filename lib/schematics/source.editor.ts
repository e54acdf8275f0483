import { createRequire } from 'node:module';
import { join } from 'node:path';

import type ts from 'typescript';

type TypeScript = typeof ts;

/** Loads the application's compiler, because this package does not depend on TypeScript. */
export function loadTypeScript(): TypeScript {
  return createRequire(join(process.cwd(), 'package.json'))('typescript') as TypeScript;
}

/** A source file with pending insertions. */
export class SourceEditor {
  readonly source: ts.SourceFile;
  private readonly insertions: { at: number; text: string }[] = [];

  constructor(
    private readonly typescript: TypeScript,
    path: string,
    private readonly text: string,
  ) {
    this.source = typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true);
  }

  /** Returns the first node that passes the test, outer nodes first. */
  find<T extends ts.Node>(test: (node: ts.Node) => node is T, within: ts.Node = this.source): T | undefined {
    if (test(within)) return within;
    return this.typescript.forEachChild(within, (child) => this.find(test, child));
  }

  insert(at: number, text: string): void {
    this.insertions.push({ at, text });
  }

  /** Returns the module that a name is imported from. */
  moduleOf(name: string): string | undefined {
    const found = this.imports.find(({ importClause }) =>
      importClause?.namedBindings?.getText(this.source).match(new RegExp(`\\b${name}\\b`)),
    );
    return (found?.moduleSpecifier as ts.StringLiteral | undefined)?.text;
  }

  /** Inserts an import after the others. */
  addImport(name: string, specifier: string): void {
    const at = this.imports.at(-1)?.getEnd() ?? 0;
    this.insert(at, `${at > 0 ? '\n' : ''}import { ${name} } from '${specifier}';${at > 0 ? '' : '\n'}`);
  }

  /** Returns the indentation of the line in which a node begins. */
  indentOf(node: ts.Node): string {
    const { line } = this.source.getLineAndCharacterOfPosition(node.getStart());
    return /^[ \t]*/.exec(this.text.slice(this.source.getPositionOfLineAndCharacter(line, 0)))![0];
  }

  toString(): string {
    const ordered = [...this.insertions].sort((one, other) => other.at - one.at);
    return ordered.reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), this.text);
  }

  private get imports(): ts.ImportDeclaration[] {
    return this.source.statements.filter(this.typescript.isImportDeclaration);
  }
}
