import assert from 'node:assert';
import { readFileSync } from 'node:fs';

/**
 * The steps of README's quick start, in its order: lines to type (`sh`), files to write (`ts`, named by the first
 * comment), and what the application prints (a block without a language).
 */
export function quickStartSteps() {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const section = /^## Quick start\n(.*?)^## /ms.exec(readme)?.[1];
  assert.ok(section, 'README has no section "Quick start"');
  const steps = [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language, text]) => {
    if (language === 'sh')
      return text
        .trimEnd()
        .split('\n')
        .map((command) => ({ kind: 'command', command }));
    if (language === '') return [{ kind: 'output', text: text.trimEnd() }];
    const path = /^\/\/ (\S+)\n/.exec(text)?.[1];
    assert.ok(path, `A block of README's quick start does not begin with the path of its file:\n${text}`);
    return [{ kind: 'file', path, text }];
  });
  for (const kind of ['command', 'file', 'output']) {
    assert.ok(
      steps.some((step) => step.kind === kind),
      `README's quick start has no ${kind}`,
    );
  }
  return steps;
}

/** What is printed, as an expression: `…` stands for anything, and blanks for any blanks. */
export function toPattern(text) {
  const literal = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(literal.replace(/\s+/g, '\\s+').replaceAll('…', '[^]*?'));
}
