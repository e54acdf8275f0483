// Reads option types of lib/ with TypeScript: names, types, defaults and doc comments.
import ts from 'typescript';

import { slugOf } from './heading-slug.mjs';

/** Types whose fields get rows below the option that holds them, such as `rateLimit.limit`. */
const NESTED = /(Options|RateLimit|Bound)$/;

/** Options that need no table: those of decorators take the fields of messages, the others stand for types that have one. */
const NOT_TABLES = /Async|Testing|^Integrations|^(Record|PlannedTrack|Track|Identify|Page|Group|Alias)Options$/;

/** Aliases that a reader of the table wants to see resolved. */
const isTelling = (node) => ts.isUnionTypeNode(node) || ts.isFunctionTypeNode(node);

const code = (text) => `\`${text}\``;

export class OptionReader {
  /** What keeps a table from being whole, in sentences. */
  faults = [];
  /** The types whose fields are in a table. */
  documented = new Set();

  constructor(root) {
    this.lib = `${root}lib/`;
    const config = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.esm.json`, {}, ts.sys);
    this.program = ts.createProgram(config.fileNames, config.options);
    this.checker = this.program.getTypeChecker();
    this.declarations = new Map();
    for (const file of this.program.getSourceFiles()) {
      if (!file.fileName.startsWith(this.lib)) continue;
      ts.forEachChild(file, (node) => {
        const isType =
          ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isTypeAliasDeclaration(node);
        if (isType && node.name) this.declarations.set(node.name.text, node);
      });
    }
  }

  /** The types of options and settings that the package exports and that need a table. */
  publicOptionTypes() {
    const folders = ['client/', 'testing/', 'bullmq/', 'postgres/', 'opentelemetry/'];
    const entries = ['', ...folders].map((folder) => `${folder}index.ts`);
    const names = entries.flatMap((entry) => {
      const symbol = this.checker.getSymbolAtLocation(this.program.getSourceFile(this.lib + entry));
      return this.checker.getExportsOfModule(symbol).map(({ name }) => name);
    });
    const isOptions = (name) => /(Options|Settings)$/.test(name) && this.declarations.has(name);
    return [...new Set(names)].filter((name) => isOptions(name) && !NOT_TABLES.test(name));
  }

  /** A row for each option of a type, the required ones first. */
  read(name, { without = [], anchors = new Map(), prefix = '' } = {}) {
    const declaration = this.declarations.get(name);
    if (!declaration) throw new Error(`lib/ declares no type ${name}`);
    const properties = this.checker.getTypeAtLocation(declaration).getProperties();
    const rows = properties.flatMap((property) => {
      const node = property.declarations[0];
      if (without.includes(node.parent.name?.text)) return [];
      this.documented.add(name).add(node.parent.name?.text);
      return this.rowsOf(property, node, { anchors, prefix, isInherited: node.parent !== declaration });
    });
    const rank = ({ isRequired, isInherited }) => (isRequired ? 0 : isInherited ? 1 : 2);
    return prefix ? rows : rows.sort((a, b) => rank(a) - rank(b));
  }

  rowsOf(property, node, { anchors, prefix, isInherited }) {
    const name = prefix + property.name;
    const isRequired = Boolean(node.exclamationToken) || (!node.questionToken && !node.initializer);
    const { text, defaultValue = isRequired ? 'required' : undefined } = this.documentationOf(property, node);
    if (!text) this.faults.push(`${name}: no doc comment (${node.getSourceFile().fileName})`);
    if (!defaultValue) this.faults.push(`${name}: neither @default nor a last sentence "Default: ..."`);
    const below = new Set();
    const type = ts.isMethodSignature(node)
      ? code(
          node
            .getText()
            .replace(/^\w+\??/, '')
            .replace(/;$/, '')
            .replace('):', ') =>'),
        )
      : this.typeText(node.type, anchors, below);
    const row = { name, type, defaultValue: defaultValue ?? '', text, isRequired, isInherited };
    const nested = [...below].flatMap((type) => this.read(type, { anchors, prefix: `${name}.` }));
    const unique = new Map(nested.map((one) => [one.name, one])); // types of a union may have a field in common
    return [row, ...unique.values()].map((one) => ({
      ...one,
      isRequired: Boolean(defaultValue?.startsWith('required')), // rows of its fields stay below it
      isInherited,
    }));
  }

  /** A type as readers of a table want it; names of types that have rows below are added to `below`. */
  typeText(node, anchors, below) {
    if (ts.isParenthesizedTypeNode(node)) return this.typeText(node.type, anchors, below);
    if (ts.isUnionTypeNode(node)) {
      const parts = node.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword);
      return parts.map((part) => this.typeText(part, anchors, below)).join(', ');
    }
    if (ts.isArrayTypeNode(node) && ts.isTypeReferenceNode(node.elementType)) {
      return this.referenceText(node.elementType, anchors, below, '[]');
    }
    if (ts.isTypeReferenceNode(node)) return this.referenceText(node, anchors, below, '');
    if (ts.isTypeLiteralNode(node)) return fieldsText(node.members.map(({ symbol }) => symbol));
    return code(node.getText().replaceAll(/\s+/g, ' '));
  }

  referenceText(node, anchors, below, suffix) {
    const name = node.typeName.getText();
    if (name === 'Partial') return this.referenceText(node.typeArguments[0], anchors, below, suffix);
    const declaration = this.declarations.get(name);
    if (declaration) this.documented.add(name);
    const aliased = declaration && ts.isTypeAliasDeclaration(declaration) ? declaration.type : undefined;
    if (aliased && ts.isIntersectionTypeNode(aliased))
      return this.referenceText(aliased.types[0], anchors, below, suffix);
    if (aliased && ts.isTypeReferenceNode(aliased)) return this.referenceText(aliased, anchors, below, suffix);
    if (anchors.has(name)) return `[${code(name + suffix)}](${anchors.get(name)})`;
    if (aliased && isTelling(aliased)) return this.typeText(aliased, anchors, below);
    if (aliased && ts.isIndexedAccessTypeNode(aliased)) return this.literals(aliased).map(code).join(', ');
    if (!declaration || !NESTED.test(name)) return code(node.getText() + suffix);
    below.add(name);
    const fields = this.checker.getTypeAtLocation(declaration).getProperties();
    return fieldsText(fields, suffix);
  }

  literals(node) {
    return this.checker.getTypeFromTypeNode(node).types.map((type) => `'${type.value}'`);
  }

  documentationOf(property, node) {
    const text = ts.displayPartsToString(property.getDocumentationComment(this.checker)).replaceAll(/\s+/g, ' ').trim();
    const [, sentences, sentence] = /^(.*?)(?:\s*Default: (.*?)\.?)?$/.exec(text);
    const tag = property.getJsDocTags(this.checker).find(({ name }) => name === 'default');
    const given = tag ? ts.displayPartsToString(tag.text).replaceAll(/\s+/g, ' ') : sentence;
    const links = ts
      .getJSDocTags(node)
      .filter(ts.isJSDocSeeTag)
      .map((see) => this.linkOf(see.getText()));
    const plain = sentences.replaceAll(/\{@link (\w+)(?:\(\))?\s*\}/g, '`$1`').trim();
    return {
      text: [plain, ...links].join(' ').trim(),
      defaultValue: given === undefined ? undefined : defaultText(given),
    };
  }

  /** `@see docs/page.md, "Section"` as a link. */
  linkOf(see) {
    const [, page, title] = /docs\/([\w-]+\.md), "([^"]+)"/.exec(see.replaceAll(/\s*\n\s*\*\s*/g, ' ')) ?? [];
    if (!title) this.faults.push(`${see}: write @see docs/page.md, "Section"`);
    return `See [${title}](${page}#${slugOf(title ?? '')}).`;
  }
}

/** An object type by the names of its fields. */
function fieldsText(fields, suffix = '') {
  const isOptional = ({ declarations: [{ questionToken, initializer }] }) => questionToken || initializer;
  const names = fields.map((field) => field.name + (isOptional(field) ? '?' : ''));
  return code(`{ ${names.join(', ')} }${suffix}`);
}

/** A default: code where it is code, and numbers as people write them. */
function defaultText(given) {
  const text = given.replaceAll(/\d+(?:_\d{3})+/g, (number) => number.replaceAll('_', ','));
  if (/`/.test(text)) return text;
  const [, value, rest = ''] =
    /^('[^']*'|\[\]|\{[^}]*\}|true|false|[a-z]+(?:\.\w+)+|\w+\(.*\))( .*)?$/i.exec(text) ?? [];
  return value === undefined ? text : code(given.slice(0, value.length)) + rest;
}
