// Builds the site of the documentation into site/dist: npm run docs:build
// Its pages are docs/, README.md as the start page, and the API reference, which TypeDoc writes from the doc comments.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = `${root}site/src/`;

/** The page of the site that a file of the repository becomes. */
const pages = new Map([
  ['README.md', 'index'],
  ['CHANGELOG.md', 'changelog'],
  ['SECURITY.md', 'security'],
  ...readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [`docs/${name}`, name.slice(0, -3)]),
]);

const read = (file) => readFileSync(root + file, 'utf8');
const { homepage } = JSON.parse(read('package.json'));
const repository = homepage.replace('#readme', '');

/** Links between files of the repository, as links between pages; to other files, as links to the repository. */
function withSiteLinks(markdown, file) {
  return markdown.replaceAll(/\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (_link, path, anchor = '') => {
    const target = posix.join(posix.dirname(file), path);
    const page = pages.get(target);
    if (page) return `](/${page === 'index' ? '' : page}${anchor})`;
    if (target.startsWith('docs/images/')) return `](./${target.slice('docs/'.length)})`;
    const kind = statSync(root + target).isDirectory() ? 'tree' : 'blob';
    return `](${repository}/${kind}/main/${target}${anchor})`;
  });
}

/** The groups of pages in README.md: a heading of the third level, and a table whose first column links to pages. */
function readGroups(readme) {
  const [, documentation] = /\n## Documentation\n([^]*?)\n## /.exec(readme);
  return documentation.split(/\n### /).flatMap((section) => {
    const rows = [...section.matchAll(/^\| \[[^\]]*\]\(docs\/([\w-]+)\.md\) *\| (.*?) *\|$/gm)];
    if (rows.length === 0) return [];
    const listed = rows.map(([, page, covers]) => ({
      page,
      covers,
      title: /^# (.*)$/m.exec(read(`docs/${page}.md`))[1],
    }));
    return [{ title: section.split('\n')[0], pages: listed }];
  });
}

/** What language models read: a list of pages with links to their Markdown, and all pages in one file. */
function writeLlmsFiles(groups) {
  const [, title, summary] = /^# (.*)\n\n([^\n]*)/.exec(read('README.md'));
  const lists = groups.map((group) =>
    [`## ${group.title}`, '', ...group.pages.map((one) => `- [${one.title}](${one.page}.md): ${one.covers}`)].join(
      '\n',
    ),
  );
  mkdirSync(`${source}public`, { recursive: true });
  const write = (name, text) => writeFileSync(`${source}public/${name}`, text);
  write('llms.txt', [`# ${title}`, `> ${summary}`, '- [Quick start](index.md)', ...lists].join('\n\n') + '\n');
  const names = ['index', ...groups.flatMap((group) => group.pages.map(({ page }) => page))];
  const texts = names.map((name) => readFileSync(`${source}${name}.md`, 'utf8'));
  names.forEach((name, index) => write(`${name}.md`, texts[index]));
  write('llms-full.txt', texts.join('\n\n'));
}

/** Runs the command line of a package. */
function runTool(name, binary, ...args) {
  const script = createRequire(import.meta.url)
    .resolve(`${name}/package.json`)
    .replace('package.json', binary);
  execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
}

rmSync(source, { recursive: true, force: true });
mkdirSync(source, { recursive: true });
cpSync(`${root}docs/images`, `${source}images`, { recursive: true });
for (const [file, page] of pages) writeFileSync(`${source}${page}.md`, withSiteLinks(read(file), file));
const groups = readGroups(read('README.md'));
const ungrouped = [...pages].filter(
  ([file, page]) => file.startsWith('docs/') && !groups.some((group) => group.pages.some((one) => one.page === page)),
);
if (ungrouped.length > 0) throw new Error(`README.md lists no ${ungrouped.map(([file]) => file).join(', ')}`);
writeFileSync(`${source}groups.json`, JSON.stringify(groups));
writeLlmsFiles(groups);
runTool('typedoc', 'bin/typedoc');
runTool('vitepress', 'bin/vitepress.js', 'build', 'site');
