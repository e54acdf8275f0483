import { describe, expect, it } from 'vitest';

import { alignColumns, toTextTable } from '../../lib/cli/text-table.util.js';

describe('A table', () => {
  it('aligns its columns by the width that a terminal gives them', () => {
    const rows = [
      ['destination', 'dead'],
      ['日本語', '1'],
      ['ｶﾀｶﾅ', '2'],
      ['cafe\u0301', '3'],
      ['🚀', '4'],
    ];
    expect(toTextTable(rows, [1])).toBe(
      'destination  dead\n日本語          1\nｶﾀｶﾅ            2\ncafe\u0301            3\n🚀              4\n',
    );
  });

  it('has any number of rows', () => {
    expect(alignColumns(Array.from({ length: 200_000 }, () => ['a']))).toHaveLength(200_000);
  });
});
