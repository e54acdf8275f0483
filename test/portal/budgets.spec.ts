import { describe, expect, it } from 'vitest';

import { usePortal } from './support/portal.harness.js';

describe('The portal', () => {
  const { start } = usePortal();

  it('keeps to its budgets, in bytes as they are sent', async () => {
    const { host } = await start();
    const page = await (await fetch(`${host}/relay/portal/`)).text();
    const paths = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => path!);
    const sizeOf = async (path: string) =>
      Number((await fetch(`${host}/relay/portal/${path}`)).headers.get('content-length'));
    const sum = async (end: string) => {
      const sizes = await Promise.all(paths.filter((path) => path.endsWith(end)).map(sizeOf));
      return sizes.reduce((all, size) => all + size);
    };
    expect(await sum('.js')).toBeLessThan(25 * 1_024);
    expect(await sum('.css')).toBeLessThan(6 * 1_024);
  });

  it('has a page without inline scripts and styles', async () => {
    const { host } = await start();
    const page = await (await fetch(`${host}/relay/portal/`)).text();
    expect(page).not.toMatch(/<style|style=|<script(?! type="module" src=)|\bon\w+=/);
  });
});
