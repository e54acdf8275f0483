import { readdirSync, readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

const { findPhrase } = (await import(new URL('../../scripts/phrases.mjs', import.meta.url).href)) as {
  findPhrase: (text: string) => string | undefined;
};

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
];

it.each(pages)('%s has no phrase that scripts/phrases.mjs lists', (page) => {
  expect(findPhrase(readFileSync(page, 'utf8'))).toBeUndefined();
});
