import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('The scripts that a newcomer runs', () => {
  // cmd.exe, which npm uses on Windows, has no exec, no VAR=value before a command, and no quotes such as ' around one.
  it.each(['prestart', 'start', 'pretest', 'test', 'build'])('%s needs no POSIX shell', (name) => {
    for (const command of scripts[name]!.split(' && ')) expect(command).toMatch(/^(node|tsc|vitest) [\w./= -]+$/);
  });
});
