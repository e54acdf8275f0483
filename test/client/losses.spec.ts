import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Analytics, AnalyticsSettings, Plugin } from 'nestjs-analytics-relay/client';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { collect, create, event, tracked } from './support/harness.js';

const ADVICE = "To see every failure, add a listener: analytics.on('error', ...). This warning appears once";

const cancelling: Plugin = {
  name: 'consent',
  type: 'before',
  version: '1.0.0',
  isLoaded: () => true,
  load: () => Promise.resolve(),
  track: (ctx) => ctx.cancel(new Error('no consent')),
};

describe('Events that are lost', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  afterEach(() => void warn.mockClear());
  const warnings = () => warn.mock.calls.map((call) => [...call]);

  async function lose(settings: Partial<AnalyticsSettings>, prepare?: (analytics: Analytics) => unknown) {
    const collector = await collect(401);
    const analytics = create({ host: `${collector.url}/relay`, writeKey: 'wk_secret', ...settings });
    prepare?.(analytics);
    for (let i = 0; i < 3; i++) analytics.track(event());
    await analytics.flush();
    return { analytics, host: collector.url };
  }

  it('become one process warning where nothing reports them: how many, where, why and what to do', async () => {
    const { analytics, host } = await lose({});
    const line =
      `Events not delivered to ${host}: 3 ([401] Unauthorized). ` +
      'Set writeKey to the write key of one of its sources';
    expect(warnings()).toEqual([[`${line}. ${ADVICE}`, 'AnalyticsWarning']]);
    analytics.track(event());
    await analytics.closeAndFlush();
    analytics.track(event());
    await analytics.flush();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('for 404, the warning says that host is not set, if it is not', async () => {
    const httpClient = () => Promise.resolve({ status: 404, statusText: 'Not Found' });
    await lose({ httpClient, host: undefined });
    await lose({ httpClient, host: 'https://relay.example/path' });
    expect(warnings().map(([line]) => line)).toEqual([
      `Events not delivered to http://localhost:3000: 3 ([404] Not Found). host is not set: set it to the address of the relay. ${ADVICE}`,
      `Events not delivered to https://relay.example: 3 ([404] Not Found). ${ADVICE}`,
    ]);
  });

  it('cannot forge a line of the terminal', async () => {
    await lose({ httpClient: () => Promise.resolve({ status: 400, statusText: 'Bad\n\x9b31m' }) });
    expect(warn.mock.calls[0]![0]).toContain('([400] Bad\\n\\u009b31m)');
  });

  it('do so with telemetry, which counts them, but shows them to nobody', async () => {
    const counted: unknown[] = [];
    await lose({
      telemetry: {
        follow(client) {
          client.on('error', ({ reason }) => counted.push(reason));
          return this;
        },
        send: (_batch, send) => send(),
      },
    });
    expect(counted).toHaveLength(3);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('after closeAndFlush, too', async () => {
    const { analytics, host } = await lose({}, (client) => client.on('error', () => undefined));
    await analytics.closeAndFlush();
    analytics.track(event(), () => undefined);
    await analytics.flush();
    expect(warnings()).toEqual([
      [
        `Events not delivered to ${host}: 1 (recorded after closeAndFlush). ${ADVICE.replace('error', 'call_after_close')}`,
        'AnalyticsWarning',
      ],
    ]);
  });

  it('are no warning where a listener or a callback reports them, or a plugin cancelled them', async () => {
    await lose({}, (analytics) => analytics.on('error', () => undefined));
    await lose({ plugins: [cancelling] });
    const collector = await collect(401);
    const analytics = create({ host: collector.url }).on('call_after_close', () => undefined);
    const outcome = tracked(analytics);
    await analytics.closeAndFlush();
    expect((await outcome).err).toMatchObject({ code: 'http_status', message: '[401] Unauthorized' });
    analytics.track(event());
    expect(warn).not.toHaveBeenCalled();
  });
});

it.each(['esm', 'cjs'])(
  'A program that ends right after closeAndFlush has printed the warning (%s)',
  async (format) => {
    const program = `
    import { createServer } from 'node:net';
    const { Analytics } = await import(process.cwd() + '/dist/${format}/client/index.js');
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(async () => {
        const analytics = new Analytics({ writeKey: 'wk_secret', host: 'http://127.0.0.1:' + port, maxRetries: 0 });
        analytics.track({ userId: 'u1', event: 'Ordered' });
        await analytics.closeAndFlush({ timeout: 10_000 });
        process.exit();
      });
    });`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stderr).toMatch(
      /AnalyticsWarning: Events not delivered to http:\/\/127\.0\.0\.1:\d+: 1 \(fetch failed: connect ECONNREFUSED .*\)/,
    );
    expect(stderr).not.toContain('wk_secret');
  },
);
