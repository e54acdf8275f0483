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

  /** Inserts after a node and the comments that belong to it. */
  insertAfter(node: ts.Node, text: string): void {
    const comments = this.typescript.getTrailingCommentRanges(this.text, node.getEnd());
    this.insert(comments?.at(-1)?.end ?? node.getEnd(), text);
  }

  /** Returns the module that a name is imported from, and the name that it has there. */
  importOf(local: string): { name: string; specifier: string } | undefined {
    for (const { importClause, moduleSpecifier } of this.imports) {
      const bindings = importClause?.namedBindings;
      if (!bindings || !this.typescript.isNamedImports(bindings)) continue;
      const binding = bindings.elements.find(({ name }) => name.text === local);
      if (!binding) continue;
      const { text: name } = binding.propertyName ?? binding.name;
      return { name, specifier: (moduleSpecifier as ts.StringLiteral).text };
    }
    return undefined;
  }

  /** Inserts an import after the others. */
  addImport(name: string, specifier: string): void {
    const text = `import { ${name} } from '${specifier}';`;
    const last = this.imports.at(-1);
    if (last) this.insertAfter(last, `\n${text}`);
    else this.insert(0, `${text}\n`);
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
