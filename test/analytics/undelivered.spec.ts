import { Test } from '@nestjs/testing';
import { AnalyticsModule, type AnalyticsModuleOptions, AnalyticsService } from 'nestjs-analytics-relay';
import type { Plugin } from 'nestjs-analytics-relay/client';
import { expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { waitFor } from '../support/wait-for.js';

const afterwards = useCleanUps();

/** Records an event that is lost, and resolves with the error lines. */
async function lose(options: Partial<AnalyticsModuleOptions>) {
  const log = new LogLines();
  const app = await Test.createTestingModule({
    imports: [AnalyticsModule.forRoot({ writeKey: 'wk_secret', ...options })],
  })
    .setLogger(log)
    .compile();
  afterwards(() => app.close());
  await app.init();
  app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
  await app.get(AnalyticsService).flush();
  await waitFor(() => log.matching(/^error/).length > 0);
  return log.matching(/^error/);
}

async function startReceiver(status: number) {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  receiver.statuses = [status];
  return `http://127.0.0.1:${receiver.port}`;
}

it('The log names the host that does not know the write key, and what to do', async () => {
  const host = await startReceiver(401);
  expect(await lose({ host: `${host}/relay` })).toEqual([
    `error Events not delivered to ${host}: 1 ([401] Unauthorized). Set writeKey to the write key of one of its sources`,
  ]);
});

it('The log names a host that has no relay, and says so if host is not set', async () => {
  const host = await startReceiver(404);
  expect(await lose({ host })).toEqual([`error Events not delivered to ${host}: 1 ([404] Not Found)`]);
  // As from an application that listens on the default port, and thus posts to itself.
  expect(
    await lose({ httpClient: (url, options) => fetch(url.replace('http://localhost:3000', host), options) }),
  ).toEqual([
    'error Events not delivered to http://localhost:3000: 1 ([404] Not Found). host is not set: set it to the address of the relay',
  ]);
});

it('Events that are cancelled on purpose, by beforeSend or a plugin, leave no line', async () => {
  const log = new LogLines();
  const plugin: Plugin = {
    name: 'sampling',
    type: 'before',
    load: () => Promise.resolve(),
    track: (ctx) => (ctx.event.event === 'Ordered' ? ctx : ctx.cancel(new Error('not sampled'))),
  };
  const app = await Test.createTestingModule({
    imports: [
      AnalyticsModule.forRoot({
        writeKey: 'k',
        host: await startReceiver(200),
        plugins: [plugin],
        beforeSend: (event) => (event.userId === 'u1' ? event : null),
        defaults: { properties: { app: 'shop' } },
      }),
    ],
  })
    .setLogger(log)
    .compile();
  afterwards(() => app.close());
  await app.init();
  const analytics = app.get(AnalyticsService);
  const delivered: unknown[] = [];
  analytics.on('track', (ctx) => delivered.push(ctx.event.properties));
  for (const userId of ['u1', 'u2', 'u3']) analytics.track({ userId, event: 'Ordered' });
  for (let i = 0; i < 2; i++) analytics.track({ userId: 'u1', event: 'Viewed' });
  await analytics.flush();
  expect(delivered).toEqual([{ app: 'shop' }]);
  expect(log.matching(/^(warn|error)/)).toEqual([]);
});

it('The log has the code of a failed connection to a name with several addresses, which has no message', async () => {
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  const lines = await lose({ maxRetries: 0, httpClient: () => Promise.reject(refused) });
  expect(lines).toEqual(['error Events not delivered to http://localhost:3000: 1 (ECONNREFUSED)']);
});
