import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);

describe('The package', () => {
  it.each([
    ['nestjs-analytics-relay', 'Analytics'],
    ['nestjs-analytics-relay/client', 'Analytics'],
    ['nestjs-analytics-relay/testing', 'AnalyticsRecorder'],
    ['nestjs-analytics-relay/bullmq', 'bullmqQueue'],
  ])('loads %s as an ES module and as CommonJS, with the same names', async (entry, name) => {
    const { stdout } = await run(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { createRequire } from 'node:module';
         const imported = await import('${entry}');
         const required = createRequire(process.cwd() + '/')('${entry}');
         console.log(JSON.stringify([imported, required].map((exports) => Object.keys(exports).sort())));`,
    ]);
    const [imported, required] = JSON.parse(stdout) as [string[], string[]];
    expect(imported).toContain(name);
    expect(required.filter((name) => name !== '__esModule')).toEqual(imported);
  });

  it('works with both copies in one application', async () => {
    const { stdout } = await run(process.execPath, ['test/apps/both-formats.app.mjs']);
    expect(stdout.trim()).toBe('accepted 1, delivered Order Completed');
  });

  it('records with one copy the event classes of the other', async () => {
    const { stdout } = await run(process.execPath, [
      '--input-type=module',
      '--eval',
      `import 'reflect-metadata';
       import { createRequire } from 'node:module';
       import { NestFactory } from '@nestjs/core';
       import { AnalyticsService } from 'nestjs-analytics-relay';
       import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
       const { TrackedEvent } = createRequire(process.cwd() + '/')('nestjs-analytics-relay');
       class OrderCompleted {}
       TrackedEvent('Order Completed')(OrderCompleted);
       const trackingPlan = { events: [OrderCompleted] };
       const app = await NestFactory.createApplicationContext(AnalyticsTestingModule.forRoot({ trackingPlan }), { logger: false });
       app.get(AnalyticsService).trackEvent(new OrderCompleted(), { userId: 'u' });
       console.log(app.get(AnalyticsRecorder).events[0].event);`,
    ]);
    expect(stdout.trim()).toBe('Order Completed');
  });

  it('has one context for both copies', async () => {
    const { stdout } = await run(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { createRequire } from 'node:module';
       import { AnalyticsContext } from 'nestjs-analytics-relay';
       const required = createRequire(process.cwd() + '/')('nestjs-analytics-relay').AnalyticsContext;
       console.log(required !== AnalyticsContext, AnalyticsContext.run({ userId: 'u1' }, () => required.get().userId));`,
    ]);
    expect(stdout.trim()).toBe('true u1');
  });

  it('has a client that loads no dependency', async () => {
    const { stdout } = await run(process.execPath, [
      '--eval',
      `require('nestjs-analytics-relay/client');
       console.log(Object.keys(require.cache).filter((file) => !file.includes('dist')).length);`,
    ]);
    expect(stdout.trim()).toBe('0');
  });
});
