import { fork } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import typescript from 'typescript';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { post } from '../support/post.js';
import { Receiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { waitFor } from '../support/wait-for.js';
import { add, generateSettings, NEW_FILES } from './support/add.js';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** As the commands in `.env.example` generate them. */
const SETTINGS: Record<string, string> = { ...generateSettings(), WEBHOOK_URL: 'https://receiver.example/hook' };

describe('The module that nest add generates', () => {
  const cleanUp = useCleanUps();

  async function compile() {
    const { path, remove } = await temporaryFolder();
    cleanUp(remove);
    symlinkSync(fromRoot('node_modules'), path('node_modules'));
    const { outputText } = typescript.transpileModule(add(NEW_FILES).files.get('src/product-analytics.module.ts')!, {
      compilerOptions: { module: typescript.ModuleKind.ESNext, experimentalDecorators: true },
    });
    writeFileSync(path('product-analytics.module.mjs'), outputText);
    return path;
  }

  /** Starts an application with it; returns its address and how to ask its admin API. */
  async function start(path: (name: string) => string, NODE_ENV: string, settings: Record<string, string> = SETTINGS) {
    const program = [path('product-analytics.module.mjs'), JSON.stringify(settings)];
    const child = fork(fromRoot('test/apps/added.app.mjs'), program, { cwd: path(''), env: { NODE_ENV } });
    cleanUp(async () => child.kill('SIGKILL') && (await once(child, 'exit')));
    const [host] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [string];
    const headers = { Authorization: `Bearer ${SETTINGS.ADMIN_TOKEN}` };
    const ask = async (list: string) => {
      const answer = await fetch(`${host}/relay/api/${list}`, { headers });
      return answer.ok ? JSON.stringify(await answer.json()) : answer.status;
    };
    return { host, ask };
  }

  it('reads its settings when the application starts, so ConfigModule has loaded them', async () => {
    const { host, ask } = await start(await compile(), 'development');
    expect(await ask('destinations')).toContain(SETTINGS.WEBHOOK_URL);
    const event = { userId: 'u1', event: 'Order Completed' };
    const answer = await post(`${host}/v1/track`, event, SETTINGS.ANALYTICS_WRITE_KEY);
    expect(answer.status).toBe(200);
  });

  it('has no write key that others know until one is set', async () => {
    const unset = { ANALYTICS_WRITE_KEY: '', WEBHOOK_URL: '', WEBHOOK_SECRET: '' };
    const { host, ask } = await start(await compile(), 'production', { ...SETTINGS, ...unset });
    const event = { userId: 'u1', event: 'Order Completed' };
    expect((await post(`${host}/v1/track`, event, 'wk_development')).status).toBe(401);
    await waitFor(async () => /"accepted":1\b/.test(String(await ask('sources?figures=true')))); // its own event
  });

  it('starts without settings', async () => {
    const unset = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
    const { ask } = await start(await compile(), 'development', unset);
    expect(await ask('destinations')).toBe(404);
  });

  it('sends webhooks to private addresses only if the settings allow them, also in production', async () => {
    const path = await compile();
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const local = { ...SETTINGS, WEBHOOK_URL: receiver.url };
    expect((await start(path, 'production', local)).host).toBe(1); // its exit code

    const { host } = await start(path, 'production', { ...local, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, localhost' });
    const event = { userId: 'u1', event: 'Order Placed' };
    expect((await post(`${host}/v1/track`, event, SETTINGS.ANALYTICS_WRITE_KEY)).status).toBe(200);
    await waitFor(() => receiver.webhooks.some(({ body }) => body.event === 'Order Placed'));
  });

  it('leaves the file and the receiver to the application, in a test that runs beside it', async () => {
    const path = await compile();
    await start(path, 'development');
    const { ask } = await start(path, 'test');
    expect(await ask('destinations')).not.toContain(SETTINGS.WEBHOOK_URL);
  });
});
