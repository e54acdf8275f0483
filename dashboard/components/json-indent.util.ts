/** Matches a string; a bracket, comma or colon; or another value. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Maximum number of indents; deeper levels are not indented further. */
const MAX_INDENT = 24;

/**
 * Indents JSON, and keeps each value as it was written, because parsed numbers could differ. Returns other text
 * unchanged.
 *
 * @param max maximum number of characters to return
 */
export function indentJson(text: string, max = Infinity): string {
  if (!isJson(text)) return text.slice(0, max);
  let [indented, level] = ['', 0];
  const lineBreak = () => `\n${'  '.repeat(Math.min(level, MAX_INDENT))}`;
  let before = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const isEnd = token === '}' || token === ']';
    const isStart = before === '{' || before === '[';
    if (isEnd) level--;
    if (isEnd ? !isStart : isStart || before === ',') indented += lineBreak();
    if (token === '{' || token === '[') level++;
    indented += token === ':' ? ': ' : token;
    before = token;
    if (indented.length > max) return indented.slice(0, max);
  }
  return indented;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
