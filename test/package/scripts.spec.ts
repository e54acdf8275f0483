import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('The scripts that a newcomer runs', () => {
  // cmd.exe, which npm uses on Windows, has no exec, no VAR=value before a command, and no quotes such as ' around one.
  it.each(['prestart', 'start', 'pretest', 'test', 'build'])('%s needs no POSIX shell', (name) => {
    for (const command of scripts[name]!.split(' && ')) expect(command).toMatch(/^(node|tsc|vitest) [\w./= -]+$/);
  });
});

describe('The workflows', () => {
  const folder = '.github/workflows';
  const workflows = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));

  it('name actions by their commit, and its version', () => {
    const actions = workflows.flatMap((text) => text.match(/uses:.*/g) ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('give the right to publish to one job, which runs no code of a package', () => {
    const parts = workflows.flatMap((text) => text.split(/^ *(?=\w+:(?: #.*)?\n {4}\w)/m));
    const publishing = parts.filter((part) => part.includes('id-token: write'));
    expect(publishing).toHaveLength(1);
    expect(publishing[0]).toMatch(/^publish:/);
    expect(publishing[0]).toMatch(/^ {4}environment: npm\b/m);
    expect(publishing[0]!.replace(/#.*/g, '')).not.toMatch(
      /checkout|npm (?!publish --ignore-scripts|view )\w|npx|\.ci\/|container/,
    );
  });
});
