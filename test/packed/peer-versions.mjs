import assert from 'node:assert';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { run } from './shell.mjs';

/** Versions that are older than the oldest supported one, which an application may have for a purpose of its own. */
const OLD = ['reflect-metadata@0.1.14', 'ioredis@5.3.2', 'pg@8.10.0', 'axios@1.2.6', 'bullmq@6'];

const REDIS = "{ connection: 'redis://127.0.0.1:1' }";
const POSTGRES = "{ connection: 'postgres://127.0.0.1:1/none' }";

/** Prints what an application says at start that uses such a version or lacks a package, and one that does not. */
const PROGRAM = `
  import 'reflect-metadata';
  import { NestFactory } from '@nestjs/core';
  import { memoryQueue, TrackedEvent, WebhookDestinationModule } from 'nestjs-analytics-relay';
  import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
  import { postgresQueue } from 'nestjs-analytics-relay/postgres';

  async function start(options) {
    const module = WebhookDestinationModule.forRoot({ sources: [], destinations: [], ...options });
    try {
      const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
      await app.close();
      console.log('started');
    } catch (error) {
      console.log(error.message);
    }
  }

  await start({ queue: memoryQueue() });
  await start({ queue: memoryQueue(), delivery: { transport: 'axios' } });
  await start({ queue: bullmqQueue(${REDIS}) });
  await start({ queue: postgresQueue(${POSTGRES}) });
  try {
    TrackedEvent('Order Completed')(class {});
  } catch (error) {
    console.log(error.message);
  }
`;

/** The package installs beside any version, and what uses one that is missing or too old says so at start. */
export async function checkVersions(folder, tarball) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'main.js'), PROGRAM);
  const nest = '@nestjs/common@11 @nestjs/core@11 @nestjs/platform-express@11 rxjs@7';
  const options = { cwd: folder };
  await run(`npm install --no-audit --no-fund ${nest} ${OLD.join(' ')} ${tarball}`, options);
  assert.deepStrictEqual((await run('node main.js', options)).trim().split('\n'), [
    'started',
    "delivery.transport 'axios' needs axios ^1.3.1, but 1.2.6 is installed: npm install axios@1",
    'bullmqQueue needs ioredis ^5.4.0 || ^6.0.0, but 5.3.2 is installed: npm install ioredis@6',
    'postgresQueue needs pg ^8.11.0, but 8.10.0 is installed: npm install pg@8',
    '@TrackedEvent needs the package class-validator, which is not installed: npm install class-validator',
  ]);
}
