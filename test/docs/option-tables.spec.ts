import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

describe('The tables of options', () => {
  it('have every option, as its doc comment describes it', async () => {
    const check = promisify(execFile)(process.execPath, ['scripts/option-tables.mjs', '--check']);
    await expect(check).resolves.toEqual({ stdout: '', stderr: '' });
  });
});
