import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

describe('The tables of options and error codes', () => {
  it('have each of them, as its comment describes it', async () => {
    const check = promisify(execFile)(process.execPath, ['scripts/doc-tables.mjs', '--check']);
    await expect(check).resolves.toEqual({ stdout: '', stderr: '' });
  });
});
