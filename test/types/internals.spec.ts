import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';

describe('The shipped types', () => {
  it.each(['esm', 'cjs'])('hold no internals: %s', (build) => {
    const dist = new URL(`../../dist/${build}/`, import.meta.url);
    const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /\.d\.c?ts$/.test(name));
    expect(names.length).toBeGreaterThan(100);
    for (const name of names)
      expect([name, readFileSync(new URL(name, dist), 'utf8')]).toEqual([
        name,
        expect.not.stringContaining('@internal'),
      ]);
    const service = readFileSync(new URL('analytics/analytics.service.d.ts', dist), 'utf8');
    expect(service).not.toMatch(/\bdrain\b|\bconstructor\b/);
  });
});
