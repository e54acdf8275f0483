import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A `ts` block of a page. */
export interface Snippet {
  /** Its file in the reader's application: the one its first line names, or one of its own beside `src/main.ts`. */
  file: string;
  code: string;
  /** The line of the page that its first line is. */
  line: number;
}

/** A page of the documentation, and its `ts` blocks. */
export interface Page {
  /** Its path in the repository. */
  name: string;
  snippets: Snippet[];
}

const BLOCK = /^( *)```(?:ts|typescript)\b.*\n([^]*?)^\1```$/gm;
const FILE_NAME = /^\/\/ (\S+\.ts)\n/;

/** All pages that have `ts` blocks. */
export function readPages(): Page[] {
  const docs = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).map((path) => `docs/${path}`);
  return ['README.md', ...docs.filter((path) => path.endsWith('.md')).sort()]
    .map((name) => parsePage(name, readFileSync(root + name, 'utf8')))
    .filter(({ snippets }) => snippets.length > 0);
}

export function readPage(name: string): Page {
  return parsePage(name, readFileSync(root + name, 'utf8'));
}

export function parsePage(name: string, markdown: string): Page {
  const snippets = [...markdown.matchAll(BLOCK)].map(({ index, 1: indent = '', 2: block = '' }) => {
    const code = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const line = markdown.slice(0, index).split('\n').length + 1;
    return { file: FILE_NAME.exec(code)?.[1] ?? `src/line-${line}.ts`, code, line };
  });
  const files = snippets.map(({ file }) => file);
  const repeated = files.find((file, index) => files.indexOf(file) !== index);
  if (repeated) throw new Error(`${name}: two blocks are ${repeated}`);
  return { name, snippets };
}
