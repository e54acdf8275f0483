import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TOKEN } from '../webhook-destination/admin/api/support.js';

/** What Nest itself loads only where it is installed, and what has native parts. */
const EXTERNAL = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  'class-transformer',
  '@nestjs/swagger',
  'bullmq',
  'ioredis',
  'pg',
];

describe('An application that esbuild bundles', () => {
  const afterwards = useCleanUps();

  it('has the dashboard in its one file', async () => {
    const folder = await temporaryFolder(afterwards);
    const file = folder.path('main.cjs');
    await build({
      entryPoints: ['test/dashboard/support/bundled.app.ts'],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile: file,
      external: EXTERNAL,
      logLevel: 'error',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, ADMIN_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    afterwards(async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('the application has ended')));
    ended.catch(() => undefined);
    const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
    const page = await fetch(`${line.toString().trim()}/relay/`);
    const [, script] = /src="(assets\/main-\w+\.js)"/.exec(await page.text()) ?? [];
    const loaded = await fetch(new URL(script!, page.url));
    expect([page.status, loaded.status]).toEqual([200, 200]);
    expect((await loaded.text()).length).toBeGreaterThan(5_000);
  });
});

it('An application without the option admin loads neither the dashboard nor the API', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--eval',
    `require('reflect-metadata');
     const { NestFactory } = require('@nestjs/core');
     const { memoryQueue, WebhookDestinationModule } = require('nestjs-analytics-relay');
     const options = { sources: [], destinations: [], queue: memoryQueue() };
     const loaded = () => Object.keys(require.cache).filter((file) => /admin.(api|dashboard)./.test(file)).length;
     const start = async (more) => {
       const app = await NestFactory.create(WebhookDestinationModule.forRoot({ ...options, ...more }), { logger: false });
       await app.init();
       console.log(loaded() > 0);
       await app.close();
     };
     start({}).then(() => start({ admin: { token: 't' } }));`,
  ]);
  expect(stdout.trim().split('\n')).toEqual(['false', 'true']);
});
