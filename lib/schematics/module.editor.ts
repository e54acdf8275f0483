import type ts from 'typescript';

import { SourceEditor } from './source.editor.js';

/** Functions that create an application. */
const CREATION = /^NestFactory\s*\.\s*create\w*$/;

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
  const editor = new SourceEditor(typescript, path, text);
  if (editor.find(isCallOf(typescript, /\.enableShutdownHooks$/))) return text;
  const isCreation = isCallOf(typescript, CREATION);
  const isApplication = (node: ts.Node): node is ts.VariableDeclaration =>
    typescript.isVariableDeclaration(node) &&
    typescript.isIdentifier(node.name) &&
    node.initializer !== undefined &&
    typescript.isAwaitExpression(node.initializer) &&
    isCreation(node.initializer.expression);
  const application = editor.find(isApplication);
  if (!application) return undefined;
  const statement = application.parent.parent;
  const reason = 'queued events are delivered before the process ends';
  editor.insert(
    statement.getEnd(),
    `\n${editor.indentOf(statement)}${application.name.getText()}.enableShutdownHooks(); // ${reason}`,
  );
  return String(editor);
}

/** Returns the file of the application's root module, as the main file imports it, without its extension. */
export function rootModuleOf(
  typescript: typeof ts,
  path: string,
  text: string,
): { specifier: string; extension: string } | undefined {
  const editor = new SourceEditor(typescript, path, text);
  const root = editor.find(isCallOf(typescript, CREATION))?.arguments[0];
  const name = root && editor.find(typescript.isIdentifier, root)?.text;
  const specifier = name && editor.moduleOf(name);
  if (!specifier?.startsWith('.')) return undefined;
  const [extension = ''] = /\.[jt]s$/.exec(specifier) ?? [];
  return { specifier: specifier.slice(0, specifier.length - extension.length), extension };
}

/** Returns a test for calls of a function whose text matches. */
function isCallOf(typescript: typeof ts, callee: RegExp) {
  return (node: ts.Node): node is ts.CallExpression =>
    typescript.isCallExpression(node) && callee.test(node.expression.getText());
}

function isOnItsOwnLine(node: ts.Node): boolean {
  return /\n[ \t]*$/.test(node.getSourceFile().text.slice(0, node.getStart()));
}
