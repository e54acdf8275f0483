import type { PropertyRule } from './class-metadata.util.js';
import type { JsonSchema } from './json-schema.interface.js';

type Keywords = (constraints: unknown[], schema: JsonSchema) => JsonSchema | undefined;

const always =
  (keywords: JsonSchema): Keywords =>
  () =>
    keywords;
const first =
  (keyword: string): Keywords =>
  ([value]) => ({ [keyword]: value });

/** JSON Schema keywords of class-validator's rules. */
const KEYWORDS: Record<string, Keywords> = {
  isString: always({ type: 'string' }),
  isNumber: (_constraints, { type }) => ({ type: type === 'integer' ? 'integer' : 'number' }),
  isInt: always({ type: 'integer' }),
  isBoolean: always({ type: 'boolean' }),
  isObject: always({ type: 'object' }),
  isArray: always({ type: 'array' }),
  isDate: always({ type: 'string', format: 'date-time' }),
  isEmail: always({ type: 'string', format: 'email' }),
  isUrl: always({ type: 'string', format: 'uri' }),
  isUuid: always({ type: 'string', format: 'uuid' }),
  isIp: ([version]) => (version ? { type: 'string', format: `ipv${version as string}` } : undefined),
  isIn: ([values]) => ({ enum: values as unknown[] }),
  isEnum: ([, values]) => ({ enum: values as unknown[] }),
  equals: first('const'),
  min: first('minimum'),
  max: first('maximum'),
  isPositive: always({ exclusiveMinimum: 0 }),
  isNegative: always({ exclusiveMaximum: 0 }),
  isDivisibleBy: first('multipleOf'),
  minLength: first('minLength'),
  maxLength: first('maxLength'),
  isLength: ([minLength, maxLength]) => ({ minLength, ...(maxLength !== undefined && { maxLength }) }),
  isNotEmpty: (_constraints, { type }) => (type === 'string' ? { minLength: 1 } : undefined),
  matches: ([pattern]) => (pattern instanceof RegExp && !pattern.flags ? { pattern: pattern.source } : undefined),
  arrayMinSize: first('minItems'),
  arrayMaxSize: first('maxItems'),
  arrayNotEmpty: always({ minItems: 1 }),
  arrayUnique: ([identify]) => (identify ? undefined : { uniqueItems: true }),
};

/** Rules that add no keyword: they make a property required, or restrict nothing. */
const SILENT = new Set(['isDefined', 'whitelistValidation']);

/** Returns the keywords that express a rule; undefined if none do. */
export function keywordsOf({ name, type, constraints }: PropertyRule, schema: JsonSchema): JsonSchema | undefined {
  const rule = name ?? type;
  if (SILENT.has(rule)) return {};
  return Object.hasOwn(KEYWORDS, rule) ? KEYWORDS[rule]!(constraints ?? [], schema) : undefined;
}
