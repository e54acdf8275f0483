import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitepress';

import { slugOf } from '../../scripts/heading-slug.mjs';

// scripts/site.mjs writes it, from the tables of README.md.
const groups = JSON.parse(readFileSync(new URL('../src/groups.json', import.meta.url), 'utf8'));
const { name, description, homepage } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

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
      { text: 'Configuration', link: '/configuration' },
      { text: 'API reference', link: '/api/modules' },
      { text: 'Changes', link: '/changelog' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Quick start', link: '/#quick-start' },
          { text: 'Tasks', link: '/#tasks' },
        ],
      },
      ...groups.map(({ title, pages }) => ({
        text: title,
        items: pages.map(({ title: text, page }) => ({ text, link: `/${page}` })),
      })),
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
