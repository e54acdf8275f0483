import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import ts from 'typescript';

import { runCommandIn } from '../support/command.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { bin } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { bin: Record<string, string> };
const command = `${root}${bin['nestjs-analytics-relay']!}`;
type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

/** A compiled application in a folder of its own, with these TypeScript files. */
async function compiled(module: ts.ModuleKind.CommonJS | ts.ModuleKind.ESNext, files: Record<string, string>) {
  const folder = await temporaryFolder();
  const type = module === ts.ModuleKind.CommonJS ? 'commonjs' : 'module';
  await writeFile(folder.path('package.json'), JSON.stringify({ type }));
  await symlink(`${root}node_modules`, folder.path('node_modules'));
  await mkdir(folder.path('dist/orders'), { recursive: true });
  for (const [file, source] of Object.entries(files)) {
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        module,
        target: ts.ScriptTarget.ES2022,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
      },
    });
    await writeFile(folder.path(`dist/${file}`), outputText);
  }
  return folder;
}

/** Runs the command in this process. */
const run = (folder: Folder, ...args: string[]) => runCommandIn(folder.path('.'), ...args);

/** Runs it in a process of its own, as an application does. */
function spawnIn(folder: Folder, ...args: string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [command, ...args], { cwd: folder.path('.') }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode!, stdout, stderr }),
    );
  });
}

const source = {
  'orders/order.event.js': await readFile(`${root}test/cli/order.event.ts`, 'utf8'),
  'coupon.events.js': await readFile(`${root}test/cli/coupon.events.ts`, 'utf8'),
  'main.js': `throw new Error('The application was started');`,
};

describe.each([
  ['CommonJS', ts.ModuleKind.CommonJS as const],
  ['ES modules', ts.ModuleKind.ESNext as const],
])('npx nestjs-analytics-relay plan, of an application of %s', (_name, module) => {
  let app: Folder;
  beforeAll(async () => {
    app = await compiled(module, source);
  });
  afterAll(() => app.remove());

  it('prints the plan as Markdown, as formatters leave it', async () => {
    const { code, stdout } = await spawnIn(app, 'plan');
    expect(stdout).toBe(await readFile(`${root}test/cli/expected.plan.md`, 'utf8'));
    expect(await format(stdout, { parser: 'markdown', printWidth: 120 })).toBe(stdout);
    expect(code).toBe(0);
  });

  it('prints the plan as JSON Schema', async () => {
    const { code, stdout } = await run(app, 'plan', '--json', 'dist/coupon.events.js', 'dist/orders');
    expect(JSON.parse(stdout)).toEqual(JSON.parse(await readFile(`${root}test/cli/expected.plan.json`, 'utf8')));
    expect(code).toBe(0);
  });

  it('writes it to a file, and says later whether the file still holds it', async () => {
    expect(await run(app, 'plan', '--out', 'PLAN.md', 'dist')).toMatchObject({ code: 0, stdout: '' });
    expect(await run(app, 'plan', '--check', 'PLAN.md')).toEqual({ code: 0, stdout: '', stderr: '' });
    const kept = await readFile(app.path('PLAN.md'), 'utf8');
    await writeFile(app.path('PLAN.md'), kept.replace('| `code` ', '| `kode` '));
    const { code, stderr } = await run(app, 'plan', '--check', 'PLAN.md');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^PLAN\.md does not match the tracking plan\. First difference at line \d+:\n {2}file: {3}\| `kode` .*\n {2}events: \| `code` /,
    );
    await writeFile(app.path('PLAN.md'), kept.replace(/ +\|/g, ' |').replace(/-+ \|/g, '--- |'));
    expect(await run(app, 'plan', '--check', 'PLAN.md')).toMatchObject({ code: 0 });
  });

  it.each([
    ['--check', 'missing.md', 'missing.md does not exist; create it with --out'],
    ['--check', 'dist', 'dist cannot be read: EISDIR'],
    ['--out', 'missing/PLAN.md', 'missing/PLAN.md cannot be written: ENOENT'],
  ])('says why it cannot %s %s', async (option, file, fault) => {
    const { code, stderr } = await run(app, 'plan', option, file);
    expect(code).toBe(1);
    expect(stderr).toMatch(`plan: ${fault}`);
  });

  it('checks JSON however it is laid out', async () => {
    const { stdout } = await run(app, 'plan', '--json');
    await writeFile(app.path('plan.json'), JSON.stringify(JSON.parse(stdout)));
    expect(await run(app, 'plan', '--json', '--check', 'plan.json')).toMatchObject({ code: 0 });
  });
});

describe('npx nestjs-analytics-relay', () => {
  let app: Folder;
  beforeAll(async () => {
    app = await compiled(ts.ModuleKind.ESNext, {
      ...source,
      'twice.event.js': `${source['orders/order.event.js']}`,
      'broken.js': `throw new Error('broken file');`,
      'none.js': 'export const nothing = 1;',
      'noisy.js': `console.log('noise'); setInterval(() => {}, 1000);\nexport * from './coupon.events.js';`,
    });
    await mkdir(app.path('empty'));
  });
  afterAll(() => app.remove());

  it.each([
    ['a file that fails', ['plan', 'dist/broken.js'], 'dist/broken.js cannot be loaded: broken file'],
    ['a file without events', ['plan', 'dist/none.js'], 'No event class found in: '],
    ['what is not there', ['plan', 'build'], 'build does not exist'],
    ['a folder without event files', ['plan', 'empty'], 'empty contains no files named *.event.js or *.events.js'],
    [
      'one event twice',
      ['plan'],
      '"Order Completed" is declared by two classes, in dist/orders/order.event.js and in dist/twice.event.js',
    ],
    ['an unknown option', ['plan', '--yaml'], 'plan: unknown option --yaml'],
    ['an unknown command', ['plans'], 'Unknown command "plans"'],
    ['no command', [], 'Usage: nestjs-analytics-relay <command>'],
  ])('fails at %s', async (_what, args, message) => {
    const { code, stdout, stderr } = await run(app, ...args);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  it('tells how it is used', async () => {
    const { code, stdout } = await run(app, 'plan', '--help');
    expect(stdout).toContain('--check <file>');
    expect(code).toBe(0);
  });

  it('neither waits for what a file started, nor mixes its output with the plan', async () => {
    const { code, stdout, stderr } = await spawnIn(app, 'plan', 'dist/noisy.js');
    expect(stdout).toMatch(/^# Tracking plan/);
    expect(stderr).toBe('noise\n');
    expect(code).toBe(0);
  });
});
