import type ts from 'typescript';

import { SourceEditor } from './source.editor.js';

/**
 * Adds a module to the imports of the first module in a file; undefined if its decorator's imports are not an array
 * literal.
 */
export function addToImports(
  typescript: typeof ts,
  path: string,
  text: string,
  name: string,
  specifier: string,
): string | undefined {
  const editor = new SourceEditor(typescript, path, text);
  const isModule = (node: ts.Node): node is ts.Decorator =>
    typescript.isDecorator(node) &&
    typescript.isCallExpression(node.expression) &&
    node.expression.expression.getText() === 'Module';
  const call = editor.find(isModule)?.expression as ts.CallExpression | undefined;
  const [metadata] = call?.arguments ?? [];
  if (!metadata || !typescript.isObjectLiteralExpression(metadata)) return undefined;
  const imports = metadata.properties.find((property) => property.name?.getText() === 'imports');
  if (!imports) {
    const indent = `${editor.indentOf(metadata)}  `;
    editor.insert(
      metadata.getStart() + 1,
      `\n${indent}imports: [${name}],${metadata.properties.length > 0 ? '' : '\n'}`,
    );
  } else if (typescript.isPropertyAssignment(imports) && typescript.isArrayLiteralExpression(imports.initializer)) {
    const { elements } = imports.initializer;
    if (elements.some((element) => element.getText() === name)) return text;
    const last = elements.at(-1);
    if (!last) editor.insert(imports.initializer.getStart() + 1, name);
    else editor.insert(last.getEnd(), isOnItsOwnLine(last) ? `,\n${editor.indentOf(last)}${name}` : `, ${name}`);
  } else {
    return undefined;
  }
  editor.addImport(name, specifier);
  return String(editor);
}

/** Enables shutdown hooks, so that queued events are delivered when the application stops. */
export function addShutdownHooks(typescript: typeof ts, path: string, text: string): string | undefined {
  if (text.includes('enableShutdownHooks')) return text;
  const editor = new SourceEditor(typescript, path, text);
  const isCreation = (node: ts.Node): node is ts.VariableStatement =>
    typescript.isVariableStatement(node) && /\bNestFactory\.create\w*[(<]/.test(node.getText());
  const creation = editor.find(isCreation);
  const variable = creation?.declarationList.declarations[0]?.name.getText();
  if (!creation || !variable) return undefined;
  const reason = 'queued events are delivered before the process ends';
  editor.insert(creation.getEnd(), `\n${editor.indentOf(creation)}${variable}.enableShutdownHooks(); // ${reason}`);
  return String(editor);
}

/** Returns the file of the application's root module, as the main file imports it, without its extension. */
export function rootModuleOf(
  typescript: typeof ts,
  path: string,
  text: string,
): { specifier: string; hasEnding: boolean } | undefined {
  const [, name] = /\bNestFactory\.create\w*(?:<[^>]*>)?\(\s*(\w+)/.exec(text) ?? [];
  const specifier = name && new SourceEditor(typescript, path, text).moduleOf(name);
  if (!specifier?.startsWith('.')) return undefined;
  return { specifier: specifier.replace(/\.js$/, ''), hasEnding: specifier.endsWith('.js') };
}

function isOnItsOwnLine(node: ts.Node): boolean {
  return /\n[ \t]*$/.test(node.getSourceFile().text.slice(0, node.getStart()));
}
