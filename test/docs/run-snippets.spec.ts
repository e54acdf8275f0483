import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, describe, expect, it } from 'vitest';

import { generateSettings } from '../schematics/support/add.js';
import { useCleanUps } from '../support/clean-ups.js';
import { freePort } from '../support/own-services.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { compilePage } from './support/compiled-page.js';
import { type Page, readPage, readPages } from './support/page.js';

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
const run = (args: string[], cwd?: string) => promisify(execFile)(process.execPath, args, { cwd, timeout: 100_000 });

describe('The ts blocks', () => {
  const cleanUp = useCleanUps();

  const built = new Map<string, { file: (name: string) => string; remove: () => Promise<void> }>();
  afterAll(() => Promise.all([...built.values()].map(({ remove }) => remove())));

  /** Compiles a page, once, as an application of ES modules; answers where a file of it is. */
  async function build(page: Page): Promise<(name: string) => string> {
    const known = built.get(page.name);
    if (known) return known.file;
    const { path, remove } = await temporaryFolder();
    compilePage(page, path(''));
    const file = (name: string) => path(`esm/${name.replace(/\.ts$/, '.js')}`);
    built.set(page.name, { file, remove });
    return file;
  }

  /** Runs a file of a page until the test ends. */
  function start(file: string, env: Record<string, string>): { child: ChildProcess; output: () => string } {
    const child = spawn(process.execPath, [file], { env: { ...process.env, ...env } });
    cleanUp(() => child.exitCode === null && child.signalCode === null && child.kill() && once(child, 'exit'));
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output };
  }

  const pagesWithTests = readPages().filter(({ snippets }) => snippets.some(({ file }) => file.endsWith('.spec.ts')));
  it.each(pagesWithTests)('of $name that are tests pass', async (page) => {
    const fileOf = await build(page);
    const config = { testEnvironment: 'node', testMatch: ['**/*.spec.js'], transform: {} };
    await writeFile(fileOf('jest.config.json'), JSON.stringify(config));
    const { stderr } = await run(['--experimental-vm-modules', jest], fileOf(''));
    const tests = page.snippets.filter(({ file }) => file.endsWith('.spec.ts')).length;
    expect(stderr).toContain(`Test Suites: ${tests} passed, ${tests} total`);
  });

  it('of docs/client.md begin with one that sends its event', async () => {
    const endpoint = await Receiver.start();
    cleanUp(() => endpoint.stop());
    const page = readPage('docs/client.md');
    const fileOf = await build(page);
    const file = fileOf(page.snippets[0]!.file);
    const code = await readFile(file, 'utf8');
    await writeFile(file, code.replace('localhost:3000', `127.0.0.1:${endpoint.port}`));
    await run([file]);
    expect(endpoint.webhooks).toMatchObject([
      { path: '/v1/batch', body: { batch: [{ event: 'Order Completed', properties: { revenue: 129.9 } }] } },
    ]);
  });

  const short = { kind: 'a short secret', secret: 'shh' };
  const generated = { kind: 'the secret that nest add suggests', secret: generateSettings().WEBHOOK_SECRET! };
  describe.each([
    { file: 'src/main.ts', ...short },
    { file: 'src/main.ts', ...generated },
    { file: 'src/standard.receiver.ts', ...generated },
    { file: 'src/receiver.ts', ...short },
  ])('of docs/webhooks.md: $file under $kind', ({ file, secret }) => {
    it('takes what is signed and refuses anything else', async () => {
      const fileOf = await build(readPage('docs/webhooks.md'));
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/hook`;
      const receiver = start(fileOf(file), { PORT: String(port), WEBHOOK_SECRET: secret });
      const post = (headers: object = {}) =>
        fetch(url, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json', ...headers } });
      await waitFor(
        async () => (await post().catch(() => undefined))?.status === 401,
        () => `a receiver: ${receiver.output()}`,
      );
      expect((await post({ 'X-Signature': 'x' })).status).toBe(401);

      const relay = await Relay.start({ destinations: [{ urls: [url], sharedSecret: secret }] });
      cleanUp(() => relay.stop());
      await relay.track('m1');
      expect(await relay.settled('delivered')).toMatchObject([{ results: [{ status: 204 }] }]);
      await waitFor(() => receiver.output().includes('received:'));
    });

    it('does not start without a secret', async () => {
      const fileOf = await build(readPage('docs/webhooks.md'));
      const { child, output } = start(fileOf(file), { PORT: String(await freePort()), WEBHOOK_SECRET: '' });
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code).not.toBe(0);
      expect(output()).toMatch(/the secret must be a non-empty string|WEBHOOK_SECRET is not set/);
    });
  });
});
