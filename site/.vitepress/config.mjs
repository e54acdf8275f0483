import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitepress';

import { slugOf } from '../../scripts/heading-slug.mjs';

// scripts/site.mjs writes it, from the tables of README.md.
const [start, ...groups] = JSON.parse(readFileSync(new URL('../src/groups.json', import.meta.url), 'utf8'));
const { name, description, homepage } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

const toItems = (pages) => pages.map(({ title, page }) => ({ text: title, link: `/${page}` }));

export default defineConfig({
  title: name,
  description,
  srcDir: 'src',
  srcExclude: ['public/**'], // served as they are: the Markdown of each page, for language models
  outDir: 'dist',
  cleanUrls: true,
  // Links to the reader's own machine, such as that of the quick start.
  ignoreDeadLinks: [/^https?:\/\/localhost/],
  markdown: { anchor: { slugify: slugOf } },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/' },
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'API reference', link: '/api/modules' },
      { text: 'Changes', link: '/changelog' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Quick start', link: '/#quick-start' },
          ...toItems(start.pages),
          { text: 'Tasks', link: '/#tasks' },
          { text: 'Beside other tools', link: '/#beside-other-tools' },
        ],
      },
      ...groups.map(({ title, pages }) => ({ text: title, items: toItems(pages) })),
      {
        text: 'Package',
        items: [
          { text: 'API reference', link: '/api/modules' },
          { text: 'Changes', link: '/changelog' },
          { text: 'Security', link: '/security' },
        ],
      },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: homepage.replace('#readme', '') }],
  },
});
