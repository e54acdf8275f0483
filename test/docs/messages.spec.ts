import { readdirSync, readFileSync } from 'node:fs';

import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** An HTTP status is no message. */
const STATUS = /^\d{3}$/;

/** Every text in the source code, without what is inserted into it. */
function readTexts(): string[] {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      texts.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  for (const path of files) {
    visit(ts.createSourceFile(path, readFileSync(`lib/${path}`, 'utf8'), ts.ScriptTarget.Latest));
  }
  return texts;
}

/** The messages that a page quotes as those of a failure or a warning, and in its table of symptoms. */
function quotedIn(page: string): string[] {
  const markdown = readFileSync(page, 'utf8');
  const table = markdown.split(/^## /m).find((section) => section.startsWith('Troubleshooting\n')) ?? '';
  const symptoms = [...table.matchAll(/^\|(.*?)(?<!\\)\|/gm)].map(([, cell = '']) => cell);
  const quoted = [...markdown.matchAll(/\b(?:fails? with|warning) `[^`]+`/g)].map(([text]) => text);
  const messages = [...symptoms, ...quoted].flatMap((text) => [...text.matchAll(/`([^`]+)`/g)]);
  return messages.map(([, message]) => message!).filter((message) => !STATUS.test(message));
}

/** Returns what surrounds the insertions (`…`) of a message. */
function partsOf(message: string): string[] {
  return message.split('…').map((part) => part.replace(/^[:\s]+|\s+$/g, ''));
}

describe('The messages quoted in', () => {
  const texts = readTexts();
  const pages = readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : []));

  it.each(pages.filter((page) => quotedIn(page).length > 0))('%s are those of the source code', (page) => {
    const isKnown = (part: string) => texts.some((text) => text.includes(part));
    expect(quotedIn(page).filter((message) => !partsOf(message).every(isKnown))).toEqual([]);
  });
});
