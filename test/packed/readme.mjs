import assert from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

const read = (path) => readFileSync(new URL(path, root), 'utf8');

/**
 * The steps of a part of a page, in its order: lines to type (`sh`), files to write (named by the first comment), settings
 * (`text`), and what is printed (a block without a language). Other blocks of code are examples of no file.
 */
function toSteps(markdown) {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language, text]) => {
    if (language === 'sh') {
      const lines = text.trimEnd().split('\n');
      return lines.map((command) => ({ kind: 'command', command }));
    }
    if (language === 'text') return { kind: 'settings', text };
    if (language === '') return { kind: 'output', text: text.trimEnd() };
    const path = /^\/\/ (\S+\.\w+)\n/.exec(text)?.[1];
    return path ? { kind: 'file', path, text } : [];
  });
}

/** The page to open, and the token to sign in with. */
function dashboardOf(markdown) {
  const [, url, token] = /(http:\/\/localhost:\d+\/relay)\b[^`]*`([^`]+)`/.exec(markdown) ?? [];
  return url && { url, token };
}

/** The steps of README's quick start. */
export function quickStartSteps() {
  const section = /^## Quick start\n(.*?)^## /ms.exec(read('README.md'))?.[1] ?? '';
  const page = dashboardOf(section);
  const steps = [...toSteps(section), ...(page ? [{ kind: 'page', ...page }] : [])];
  for (const kind of ['command', 'file', 'output', 'page']) {
    const found = steps.some((step) => step.kind === kind);
    assert.ok(found, `README has no ${kind} in its section "Quick start"`);
  }
  return steps;
}

/** The numbered sections of docs/getting-started.md, each as its steps, and its dashboard. */
export function gettingStartedSections() {
  const page = read('docs/getting-started.md');
  const sections = page.split(/^## /m).filter((section) => /^\d+\. /.test(section));
  assert.strictEqual(sections.length, 9, 'getting-started.mjs knows nine steps of docs/getting-started.md');
  return { sections: sections.map(toSteps), dashboard: dashboardOf(page) };
}

/** The tests of docs/testing.md, each with its file, as the first comment names it. */
export function documentedTests() {
  const page = read('docs/testing.md');
  const tests = [...page.matchAll(/^```ts\n(\/\/ (\S+\.spec\.ts)\n[^]*?)^```$/gm)];
  assert.strictEqual(tests.length, page.match(/^```ts\n/gm).length, 'a block of docs/testing.md is no test');
  return tests.map(([, text, path]) => ({ path, text }));
}

/** Each `npm install <package>` of README.md, docs/ and the samples, once and with its page; also in comments and tables. */
export function documentedInstalls() {
  const docs = readdirSync(new URL('docs', root)).map((name) => `docs/${name}`);
  const samples = readdirSync(new URL('sample', root)).map((name) => `sample/${name}/README.md`);
  const pages = ['README.md', ...docs.filter((path) => path.endsWith('.md')), ...samples];
  const found = new Map();
  for (const page of pages) {
    for (const [command] of read(page).matchAll(/\bnpm (?:i|add|install|uninstall) [^`#\n]*[^`#\s]/g)) {
      if (!found.has(command)) found.set(command, page);
    }
  }
  assert.ok(found.size > 0, 'no page has an `npm install`');
  return [...found].map(([command, page]) => ({ command, page }));
}

/** What README says to type instead of `npx nest add`, with a package manager other than npm. */
export function otherInstall() {
  const readme = read('README.md');
  const [, ...commands] = /With pnpm or Yarn[^`]*`([^`]+)`[^`]*`([^`]+)`[^`]*`([^`]+)`/.exec(readme) ?? [];
  assert.strictEqual(commands.length, 3, 'README does not say how to install with pnpm or Yarn');
  return commands;
}

/** What is printed, as an expression: `…` stands for anything, and blanks for any blanks. */
export function toPattern(text) {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(literal.replace(/\s+/g, '\\s+').replaceAll('…', '[^]*?'));
}
