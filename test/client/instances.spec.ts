import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Analytics, VERSION, type Message, type TrackParams } from 'nestjs-analytics-relay/client';
import { collect, create, event } from './support/harness.js';

const execute = promisify(execFile);
const root = new URL('../../', import.meta.url);

describe('many instances', () => {
  it('keep their settings, queues and listeners apart', async () => {
    const collectors = await Promise.all([collect(), collect(400)]);
    const heard: string[] = [];
    const instances = Array.from({ length: 20 }, (_, i) =>
      create({ host: collectors[i % 2]!.url, writeKey: `wk_${i}`, path: `/${i}` })
        .on('track', (ctx) => heard.push(ctx.event.userId!))
        .on('error', ({ ctx }) => heard.push(`failed ${ctx!.event.userId}`)),
    );
    instances.forEach((analytics, i) => analytics.track(event({ userId: String(i) })));
    await Promise.all(instances.map((analytics) => analytics.flush()));
    for (const { requests } of collectors) {
      expect(requests).toHaveLength(10);
      for (const { path, body } of requests) {
        const [message] = body.batch as [Message];
        expect([path, body.writeKey]).toEqual([`/${message.userId}`, `wk_${message.userId}`]);
      }
    }
    expect(heard.sort()).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? String(i) : `failed ${i}`)).sort(),
    );
  });

  it('have methods that can be passed around', async () => {
    const collector = await collect();

    const { track, on, flush } = create({ host: collector.url });
    on('error', () => undefined);
    track(event());
    await flush();
    expect(collector.messages).toHaveLength(1);
  });

  it('may be of a class that extends Analytics', async () => {
    class Shop extends Analytics {
      override track(...[message, callback]: Parameters<Analytics['track']>): void {
        super.track({ ...message, properties: { ...message.properties, shop: 'north' } }, callback);
      }
    }
    const collector = await collect();
    const shop = new Shop({ writeKey: 'wk', host: collector.url });
    shop.track(event());
    expect(shop.pendingCount).toBe(1);
    await shop.closeAndFlush();
    expect(shop.pendingCount).toBe(0);
    expect(collector.messages[0]!.properties).toEqual({ shop: 'north' });
  });

  it('may be of a class that overrides a method by an arrow function', async () => {
    class Shop extends Analytics {
      override track = (message: TrackParams) => super.track({ ...message, properties: { shop: 'north' } });
    }
    const collector = await collect();
    const shop = new Shop({ writeKey: 'wk', host: collector.url });
    shop.track(event());
    await shop.closeAndFlush();
    expect(collector.messages[0]!.properties).toEqual({ shop: 'north' });
  });

  it('have methods that instrumentation can redefine', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url });
    const { track } = analytics;
    const value = (message: TrackParams) => track({ ...message, properties: { traced: true } });
    Object.defineProperty(analytics, 'track', { value, configurable: true, enumerable: true, writable: true });
    analytics.track(event());
    await analytics.flush();
    expect(collector.messages[0]!.properties).toEqual({ traced: true });
  });
});

describe('a batch', () => {
  it('belongs to no request, neither to the one that made the instance nor to the one that records', async () => {
    const requests = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const httpClient = () => {
      seen.push(requests.getStore());
      return Promise.resolve({ status: 200 } as Response);
    };
    const analytics = requests.run('first', () => create({ httpClient }));
    for (const request of ['first', 'second']) {
      await requests.run(request, () => {
        analytics.track(event());
        return analytics.flush();
      });
    }
    expect(seen).toEqual([undefined, undefined]);
  });

  it('belongs to no trace, even if the package is loaded in one', async () => {
    const { stdout } = await execute(process.execPath, ['test/apps/lazy.app.mjs'], { cwd: fileURLToPath(root) });
    expect(stdout).toBe('an active span: true\na span of the batch: false\n');
  });
});

describe('the process', () => {
  /** Runs a script with the package until it ends by itself; resolves with what it printed. */
  async function run(script: string): Promise<string> {
    const source = `import { Analytics } from 'nestjs-analytics-relay/client';\n${script}`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', source], {
      cwd: fileURLToPath(root),
      timeout: 10_000,
    });
    return stdout;
  }

  it('is not kept alive by an instance that has nothing to send', async () => {
    const collector = await collect();
    const output = await run(`
      const analytics = new Analytics({ writeKey: 'wk', host: '${collector.url}' });
      analytics.track({ userId: 'u', event: 'E' });
      await analytics.flush({ timeout: 60_000 });
      console.log('flushed');
    `);
    expect(output).toBe('flushed\n');
    expect(collector.messages).toHaveLength(1);
  });

  it('is kept alive by events that wait, until they are delivered', async () => {
    const collector = await collect(500, 200);
    await run(`
      const analytics = new Analytics({ writeKey: 'wk', host: '${collector.url}', flushInterval: 100 });
      analytics.track({ userId: 'u', event: 'E' });
    `);
    expect(collector.requests).toHaveLength(2);
  });
});

describe('the package', () => {
  it('says its own version', () => {
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
    expect(create({ disable: true }).VERSION).toBe(version);
  });

  it('loads as CommonJS as well, and shares nothing with the ES modules', () => {
    const common = createRequire(import.meta.url)('nestjs-analytics-relay/client') as { Analytics: typeof Analytics };
    expect(common.Analytics).not.toBe(Analytics);
    expect(new common.Analytics({ writeKey: 'wk', disable: true })).not.toBeInstanceOf(Analytics);
  });
});
