import type { JsonSchema } from './json-schema.interface.js';
import type { PlannedEvent } from './plan-document.util.js';
import { alignColumns } from './text-table.util.js';

/** Keywords that other columns show, or that do not restrict a value. */
const SHOWN =
  'type format enum const anyOf oneOf items properties required description $comment additionalProperties $defs'.split(
    ' ',
  );

interface Row {
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** Converts the plan to a Markdown page. */
export function toMarkdown(events: PlannedEvent[]): string {
  const sections = events.map(({ name, schema }) =>
    [`## ${name}`, schema.description, propertiesOf(schema)].filter((part) => part !== undefined).join('\n\n'),
  );
  const origin = '<!-- Made by `npx nestjs-analytics-relay plan` from the event classes: change those. -->';
  return `${['# Tracking plan', origin, ...sections].join('\n\n')}\n`;
}

function propertiesOf(schema: JsonSchema): string {
  const rows = rowsOf(schema);
  if (rows.length === 0) return schema.$comment ? `Its properties are ${schema.$comment}.` : 'No properties.';
  const cells = rows.map(({ path, schema: property, isRequired }) => [
    `\`${path}\``,
    typeOf(property),
    isRequired ? 'yes' : '',
    rulesOf(property),
  ]);
  return toTable([['property', 'type', 'required', 'rules'], ...cells]);
}

/** Aligns columns as formatters do, because the page is compared with a committed one. */
function toTable(rows: string[][]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replace(/\|/g, '\\|').replace(/\s+/g, ' ')));
  const [head = [], ...body] = alignColumns(escaped, [], 3);
  const rule = head.map((cell) => '-'.repeat(cell.length));
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the properties, each followed by those of its object or of its elements. */
function rowsOf({ properties = {}, required = [] }: JsonSchema, parent = ''): Row[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${parent}${name}`;
    const elements = schema.items ? rowsOf(schema.items, `${path}[].`) : [];
    return [{ path, schema, isRequired: required.includes(name) }, ...rowsOf(schema, `${path}.`), ...elements];
  });
}

function typeOf({ type, format, items, anyOf, oneOf, ...schema }: JsonSchema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return alternatives.map(typeOf).join(' | ');
  if (items) return `array of ${typeOf(items)}`;
  const name = Array.isArray(type) ? type.join(' | ') : (type ?? 'any');
  return format ? `${name} (${format})` : name;
}

function rulesOf(schema: JsonSchema): string {
  const keywords = Object.entries(schema)
    .filter(([keyword]) => !SHOWN.includes(keyword))
    .map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`);
  const ofElements = schema.items ? rulesOf(schema.items) : '';
  return [
    schema.description,
    ...keywords,
    schema.$comment?.replace(/^rules: /, ''),
    ofElements && `each: ${ofElements}`,
  ]
    .filter(Boolean)
    .join('; ');
}
