import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

const { withFigures } = (await import(new URL('../../scripts/figures.mjs', import.meta.url).href)) as {
  withFigures: (markdown: string, report: (fault: string) => void) => string;
};

/** What bench/figures.json fills in, and code. */
const FILLED_IN = /<!-- (figures?): .*?<!-- \/\1 -->|^( *)```.*?^\2```$/gms;

/** CPU times, and what is compared by a number. Loads, limits and times that options set are no measurements. */
const MEASURED =
  /[\d.,]+ ?(µs|us)\b|\b(\d+(\.\d+)?|two|three|four|five|six|ten) times (as much|as many|the CPU|the rate)\b|\d % (more|less|of the) CPU|\bp(50|99)\b[^.]* \d|\d m?s instead of/g;

const measuredIn = (markdown: string) => markdown.replaceAll(FILLED_IN, '').match(MEASURED) ?? [];

const pages = [
  ...['README.md', 'bench/README.md'],
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
];

describe('The figures', () => {
  it.each(pages)('of %s come from bench/figures.json', (page) => {
    expect(measuredIn(readFileSync(page, 'utf8'))).toEqual([]);
  });

  it('are found where a page states one itself', () => {
    expect(measuredIn('It takes 8 to 9 µs, three times as much CPU, at a p99 of 7 ms.')).toHaveLength(3);
    expect(measuredIn('<!-- figure: a / b / c -->8 µs<!-- /figure -->\n\n```\n8 µs\n```\n')).toEqual([]);
  });

  it('have their origin, and no page names one that is not there', () => {
    const faults: string[] = [];
    const shown = withFigures('<!-- figures: forward-dispatch -->\n<!-- /figures -->', (fault) => faults.push(fault));
    expect(shown).toMatch(/`npm run bench:forward.*`, \d{4}-\d\d-\d\d, .* cores of .*, Node \S+, commit \w+/);
    withFigures('<!-- figures: none --><!-- /figures -->', (fault) => faults.push(fault));
    withFigures('<!-- figure: forward-dispatch / floor / none --><!-- /figure -->', (fault) => faults.push(fault));
    expect(faults).toEqual([
      'bench/figures.json has no none',
      'bench/figures.json has no forward-dispatch / floor / none',
    ]);
  });
});
