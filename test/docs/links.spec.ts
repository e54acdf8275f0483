import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

import { describe, expect, it } from 'vitest';

const { slugOf } = (await import(new URL('../../scripts/heading-slug.mjs', import.meta.url).href)) as {
  slugOf: (title: string) => string;
};

const pages = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');

/** The Markdown without what it shows as code. */
const withoutCode = (markdown: string) => markdown.replaceAll(/^( *)```[^]*?^\1```$|`[^`\n]*`/gm, '');

function anchorsOf(page: string): Set<string> {
  const headings = readFileSync(page, 'utf8')
    .replaceAll(/^( *)```[^]*?^\1```$/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, title = '']) => slugOf(title)));
}

/** What is wrong with the target of a link of a page, if anything is. */
function faultOf(page: string, link: string): string[] {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(target)) return [`${page}: ${link} does not exist`];
  if (anchor === undefined || statSync(target).isDirectory() || !target.endsWith('.md')) return [];
  return anchorsOf(target).has(anchor) ? [] : [`${page}: ${link} names no heading`];
}

describe('The links', () => {
  it.each(pages)('of %s lead to files and headings of the repository', (page) => {
    const markdown = withoutCode(readFileSync(page, 'utf8'));
    const links = [...markdown.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(([, a, b]) => (a ?? b)!);
    expect(links.filter((link) => !/^[a-z]+:/.test(link)).flatMap((link) => faultOf(page, link))).toEqual([]);
  });

  it('of the README lead to every page of docs/', () => {
    const readme = readFileSync('README.md', 'utf8');
    const unlisted = pages.filter((page) => page.startsWith('docs/') && !readme.includes(`](${page})`));
    expect(unlisted).toEqual([]);
  });
});
