import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

describe('The package', () => {
  it.each([
    ['nestjs-analytics-relay', 'Analytics'],
    ['nestjs-analytics-relay/client', 'Analytics'],
    ['nestjs-analytics-relay/testing', 'AnalyticsRecorder'],
    ['nestjs-analytics-relay/bullmq', 'bullmqQueue'],
    ['nestjs-analytics-relay/postgres', 'postgresQueue'],
    ['nestjs-analytics-relay/opentelemetry', 'openTelemetry'],
    ['nestjs-analytics-relay/terminus', 'RelayHealthIndicator'],
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

  it('has the client under both of the names that @segment/analytics-node has for it', async () => {
    const { stdout } = await run(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { createRequire } from 'node:module';
         import Default, { Analytics } from 'nestjs-analytics-relay/client';
         const required = createRequire(process.cwd() + '/')('nestjs-analytics-relay/client');
         console.log(Default === Analytics, required.default === required.Analytics);`,
    ]);
    expect(stdout.trim()).toBe('true true');
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

  it('records with one override what both copies inject and decorate', async () => {
    const { stdout } = await run(process.execPath, [
      '--input-type=module',
      '--eval',
      `import 'reflect-metadata';
       import { createRequire } from 'node:module';
       import { Test } from '@nestjs/testing';
       import { AnalyticsService, InjectAnalytics, Track } from 'nestjs-analytics-relay';
       import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
       const required = createRequire(process.cwd() + '/')('nestjs-analytics-relay');
       const imported = { InjectAnalytics, Track };
       const providers = [imported, required].map((copy) => {
         class Shop { order() {} }
         copy.InjectAnalytics()(Shop.prototype, 'analytics');
         const order = Object.getOwnPropertyDescriptor(Shop.prototype, 'order');
         copy.Track('Ordered', { userId: 'u1' })(Shop.prototype, 'order', order);
         Object.defineProperty(Shop.prototype, 'order', order);
         return Shop;
       });
       const imports = [required.AnalyticsModule.forRoot({ writeKey: 'k', host: 'http://127.0.0.1:1' })];
       const app = await AnalyticsTestingModule.override(Test.createTestingModule({ imports, providers })).compile();
       const service = app.get(required.AnalyticsService);
       for (const Shop of providers) {
         app.get(Shop).order();
         console.log(required.AnalyticsService !== AnalyticsService, app.get(Shop).analytics === service);
       }
       console.log(AnalyticsRecorder.of(service).events.length);`,
    ]);
    expect(stdout.trim().split('\n')).toEqual(['true true', 'true true', '2']);
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
