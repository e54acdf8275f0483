/** Where a text stops being JSON. */
export interface JsonFault {
  message: string;
  /** Starts at 1. */
  line: number;
  column: number;
}

/** Matches a bracket, comma or colon; a string; or another value. White space may precede it. */
const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null))/uy;

const EXPECTED = {
  value: 'a value was expected',
  'value or ]': 'a value or ] was expected',
  name: 'a name in double quotes was expected',
  'name or }': 'a name in double quotes or } was expected',
  colon: 'a colon was expected',
  'comma or }': 'a comma or } was expected',
  'comma or ]': 'a comma or ] was expected',
  end: 'nothing more was expected',
};

type Expected = keyof typeof EXPECTED;

/**
 * Finds where a text stops being JSON; undefined if it is JSON. `JSON.parse` does not always say where, and each
 * browser words it differently.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let position = 0;
  for (;;) {
    TOKEN.lastIndex = position;
    const [whole = '', mark, string, other] = TOKEN.exec(text) ?? [];
    if (whole === '') break;
    const next = follow(expected, mark ?? (string === undefined ? 'value' : 'string'), open);
    if (next === undefined) return toFault(text, position + whole.length - (mark ?? string ?? other)!.length, expected);
    expected = next;
    position += whole.length;
  }
  const rest = text.slice(position);
  const end = position + rest.length - rest.trimStart().length;
  return end === text.length && expected === 'end' ? undefined : toFault(text, end, expected);
}

/** Returns what is expected after a token; undefined if the token itself was not expected. */
function follow(expected: Expected, token: string, open: ('{' | '[')[]): Expected | undefined {
  const isValue = expected === 'value' || expected === 'value or ]';
  const afterValue = (): Expected => (open.length === 0 ? 'end' : open.at(-1) === '{' ? 'comma or }' : 'comma or ]');
  switch (token) {
    case '{':
    case '[':
      if (!isValue) return undefined;
      open.push(token);
      return token === '{' ? 'name or }' : 'value or ]';
    case '}':
    case ']':
      if (!expected.endsWith(` ${token}`)) return undefined;
      open.pop();
      return afterValue();
    case ',':
      if (!expected.startsWith('comma')) return undefined;
      return open.at(-1) === '{' ? 'name' : 'value';
    case ':':
      return expected === 'colon' ? 'value' : undefined;
    case 'string':
      return expected.startsWith('name') ? 'colon' : isValue ? afterValue() : undefined;
    default:
      return isValue ? afterValue() : undefined;
  }
}

function toFault(text: string, position: number, expected: Expected): JsonFault {
  const lines = text.slice(0, position).split('\n');
  return { message: toMessage(text[position], expected), line: lines.length, column: lines.at(-1)!.length + 1 };
}

function toMessage(found: string | undefined, expected: Expected): string {
  if (found === undefined) return `The JSON ends too early: ${EXPECTED[expected]}`;
  if (found === "'") return 'Strings need double quotes';
  const canBeString = /^(value|name)/.test(expected);
  if (found === '"' && canBeString) return 'This string does not end, or has a character that must be escaped';
  return `This is not JSON: ${EXPECTED[expected]}`;
}
