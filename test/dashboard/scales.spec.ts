import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

const OUTSIDE =
  /^\s*(?:(?:row-|column-)?gap|(?:padding|margin)(?:-\w+)?|font(?:-size)?): [^;]*?(?<![\w.-])(?:[2-9]|\d\d+)(?:\.\d+)?(?:px|r?em)[^;]*;/gm;

describe('The style sheets of the dashboard', () => {
  const files = readdirSync('dashboard', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));

  it('are all read', () => expect(files.length).toBeGreaterThan(10));

  it.each(files)('have only spacing and type of the scales in theme.css: %s', (file) => {
    expect(readFileSync(`dashboard/${file}`, 'utf8').match(OUTSIDE) ?? []).toEqual([]);
  });
});
