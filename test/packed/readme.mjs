import assert from 'node:assert';
import { readFileSync } from 'node:fs';

/**
 * The steps of README's quick start, in its order: lines to type (`sh`), files to write (`ts`, named by the first
 * comment), what the application prints (a block without a language), and the page to open at the end. Other `ts` blocks
 * are examples of no file.
 */
export function quickStartSteps() {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const section = /^## Quick start\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
  const steps = [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language, text]) => {
    if (language === 'sh') {
      const lines = text.trimEnd().split('\n');
      return lines.map((command) => ({ kind: 'command', command }));
    }
    if (language === '') return { kind: 'output', text: text.trimEnd() };
    const path = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1];
    return path ? { kind: 'file', path, text } : [];
  });
  const [, url, token] = /(http:\/\/localhost:\d+\/relay)\S*\s[^`]*token `([^`]+)`/.exec(section) ?? [];
  if (url) steps.push({ kind: 'page', url, token });
  for (const kind of ['command', 'file', 'output', 'page']) {
    const found = steps.some((step) => step.kind === kind);
    assert.ok(found, `README has no ${kind} in its section "Quick start"`);
  }
  return steps;
}

/** The tests of docs/testing.md, each with its file, as the first comment names it. */
export function documentedTests() {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  const tests = [...page.matchAll(/^```ts\n(\/\/ (\S+\.spec\.ts)\n[^]*?)^```$/gm)];
  assert.strictEqual(tests.length, page.match(/^```ts\n/gm).length, 'a block of docs/testing.md is no test');
  return tests.map(([, text, path]) => ({ path, text }));
}

/** What README says to type instead of `npx nest add`, with a package manager other than npm. */
export function otherInstall() {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, ...commands] = /With pnpm or Yarn[^`]*`([^`]+)`[^`]*`([^`]+)`[^`]*`([^`]+)`/.exec(readme) ?? [];
  assert.strictEqual(commands.length, 3, 'README does not say how to install with pnpm or Yarn');
  return commands;
}

/** What is printed, as an expression: `…` stands for anything, and blanks for any blanks. */
export function toPattern(text) {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(literal.replace(/\s+/g, '\\s+').replaceAll('…', '[^]*?'));
}
