import type ts from 'typescript';

import { SourceEditor } from './source.editor.js';

/** Functions that create an application. */
const CREATION = /^NestFactory\s*\.\s*create\w*$/;

/**
 * Adds a module to the imports of a module class, before the others: its routes then precede their wildcards, and it
 * starts first and stops last. Undefined if the file lacks the class, or its decorator's imports are not an array
 * literal.
 */
export function addToImports(
  typescript: typeof ts,
  path: string,
  text: string,
  className: string,
  added: { name: string; specifier: string },
): string | undefined {
  const editor = new SourceEditor(typescript, path, text);
  const isModule = (node: ts.Node): node is ts.Decorator =>
    typescript.isDecorator(node) &&
    typescript.isCallExpression(node.expression) &&
    node.expression.expression.getText() === 'Module' &&
    typescript.isClassDeclaration(node.parent) &&
    node.parent.name?.text === className;
  const call = editor.find(isModule)?.expression as ts.CallExpression | undefined;
  const [metadata] = call?.arguments ?? [];
  if (!metadata || !typescript.isObjectLiteralExpression(metadata)) return undefined;
  const imports = metadata.properties.find((property) => property.name?.getText() === 'imports');
  if (!imports) {
    const indent = `${editor.indentOf(metadata)}  `;
    editor.insert(
      metadata.getStart() + 1,
      `\n${indent}imports: [${added.name}],${metadata.properties.length > 0 ? '' : '\n'}`,
    );
  } else if (typescript.isPropertyAssignment(imports) && typescript.isArrayLiteralExpression(imports.initializer)) {
    const { elements } = imports.initializer;
    if (elements.some((element) => element.getText() === added.name)) return text;
    const [first] = elements;
    const list = !first
      ? added.name
      : isOnItsOwnLine(first)
        ? `\n${editor.indentOf(first)}${added.name},`
        : `${added.name}, `;
    editor.insert(imports.initializer.getStart() + 1, list);
  } else {
    return undefined;
  }
  editor.addImport(added.name, added.specifier);
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
  editor.insertAfter(
    statement,
    `\n${editor.indentOf(statement)}${application.name.getText()}.enableShutdownHooks(); // ${reason}`,
  );
  return String(editor);
}

/** Returns the name of the application's root module, and its file as the main file imports it, without extension. */
export function rootModuleOf(
  typescript: typeof ts,
  path: string,
  text: string,
): { name: string; specifier: string; extension: string } | undefined {
  const editor = new SourceEditor(typescript, path, text);
  const root = editor.find(isCallOf(typescript, CREATION))?.arguments[0];
  const local = root && editor.find(typescript.isIdentifier, root)?.text;
  const found = local === undefined ? undefined : editor.importOf(local);
  if (!found?.specifier.startsWith('.')) return undefined;
  const { name, specifier } = found;
  const [extension = ''] = /\.[jt]s$/.exec(specifier) ?? [];
  return { name, specifier: specifier.slice(0, specifier.length - extension.length), extension };
}

/** Returns a test for calls of a function whose text matches. */
function isCallOf(typescript: typeof ts, callee: RegExp) {
  return (node: ts.Node): node is ts.CallExpression =>
    typescript.isCallExpression(node) && callee.test(node.expression.getText());
}

function isOnItsOwnLine(node: ts.Node): boolean {
  return /\n[ \t]*$/.test(node.getSourceFile().text.slice(0, node.getStart()));
}
