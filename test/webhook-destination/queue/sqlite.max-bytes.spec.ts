import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import {
  AnalyticsModule,
  AnalyticsService,
  type DeliveryQueue,
  OptionsError,
  sqliteQueue,
} from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';
import { ScriptedReceiver } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';
import { openQueue } from '../../support/open-queue.js';

const MIB = 1024 * 1024;

const track = (messageId: string, bytes = 0) => ({
  type: 'track',
  userId: 'u1',
  event: 'Ordered',
  messageId,
  properties: { padding: 'x'.repeat(bytes) },
});

describe('The option maxBytes of sqliteQueue', () => {
  const afterwards = useCleanUps();
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** An application whose receiver answers once it is told to. */
  async function start(maxBytes: number) {
    const waiting: ServerResponse[] = [];
    let isOpen = false;
    const receiver = await ScriptedReceiver.start((response) => {
      if (isOpen) response.end();
      else waiting.push(response);
    });
    afterwards(() => receiver.stop());
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    let queue: DeliveryQueue | undefined;
    const { app, host, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: {
        queue: () => (queue = sqliteQueue({ path, maxBytes, retention: { delivered: { count: 0 } } })()),
        destinations: [{ urls: [receiver.url] }],
        admin: { token: 'admin' },
        delivery: { allowedNetworks: ['127.0.0.0/8'], timeout: 60_000 },
      },
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxRetries: 100 })] },
    });
    const open = () => {
      isOpen = true;
      for (const response of waiting.splice(0)) response.end();
    };
    const ids = () => receiver.webhooks.map(({ headers }) => headers['x-message-id'] as string);
    return { app, host, relay, queue: queue!, path, open, ids };
  }

  it('answers 503 past it while deliveries, sweeps and deletions go on, and takes messages again below it', async () => {
    const { app, host, relay, queue, path, open, ids } = await start(16 * MIB);
    const [warn, log, error] = (['warn', 'log', 'error'] as const).map((level) =>
      vi.spyOn(Logger.prototype, level).mockImplementation(() => undefined),
    );
    const lines = (spy: typeof warn) => spy!.mock.calls.map(([line]) => String(line));
    const taken: string[] = [];
    let answer: Response;
    for (let index = 0; ; index++) {
      const batch = Array.from({ length: 15 }, (_, position) => track(`m${index}-${position}`, 30_000));
      answer = await post(`${host}/v1/batch`, { batch });
      if (answer.status !== 200) break;
      taken.push(...batch.map(({ messageId }) => messageId));
    }
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({ code: 'queue_unavailable' });
    // What is in the log is, or will be, in the file as well.
    expect(taken.length * 30_000).toBeGreaterThan(7 * MIB);
    expect(statSync(path).size).toBeLessThan(17 * MIB);
    for (let time = 0; time < 5; time++) expect((await post(`${host}/v1/track`, track('small'))).status).toBe(503);
    await expect(relay.accept('wk_shop', [track('in-process')])).rejects.toThrow('maxBytes (16777216 bytes)');
    app.get(AnalyticsService).track({ event: 'Ordered', userId: 'u1', messageId: 'retried' });
    expect(lines(warn)).toEqual([expect.stringContaining('its size has reached maxBytes (16777216 bytes)')]);

    open();
    await waitFor(() => ids().length === taken.length);
    await waitFor(async () => (await relay.stats()).every(({ state }) => state === 'delivered'));
    expect((await post(`${host}/v1/track`, track('small'))).status).toBe(503); // their records are kept
    expect((await queue.sweep()).removed).toBe(taken.length);
    expect((await post(`${host}/v1/track`, track('small'))).status).toBe(200);
    await waitFor(() => ids().includes('retried'));
    await waitFor(() => ids().length === taken.length + 2);
    expect(ids().sort()).toEqual([...taken, 'small', 'retried'].sort());
    expect(lines(warn)).toHaveLength(1);
    expect(lines(log).filter((line) => line.includes('maxBytes'))).toHaveLength(1);
    expect(lines(error)).toEqual([]);
  });

  it('refuses no deletion past it', async () => {
    const { host, relay, queue } = await start(16 * MIB);
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const common = { destination: 'Webhooks', source: 'shop', userId: 'u1', acceptedAt: Date.now() };
    const body = Buffer.from(JSON.stringify(randomBytes(24 * MIB).toString('base64'))); // its compressed size
    await queue.add([{ ...common, messageId: 'large', body }]);
    await expect(relay.accept('wk_shop', [track('refused')])).rejects.toThrow('maxBytes');
    const deleted = await fetch(`${host}/v1/delete`, {
      method: 'POST',
      headers: { Authorization: 'Bearer admin', 'Content-Type': 'application/json' },
      body: JSON.stringify({ userId: 'u2' }),
    });
    expect(await deleted.json()).toMatchObject({ success: true, notifications: 1, purged: 0, refused: 0 });
    await expect(relay.accept('wk_shop', [track('refused')])).rejects.toThrow('maxBytes');
    expect(await relay.requestDeletion({ userId: 'u1' })).toMatchObject({ notifications: 1, purged: 1, refused: 0 });
    const notices = await relay.deliveries({});
    expect(notices.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['delete', 'delete']);
  });

  it('counts no log that is long no more, and takes messages after a deletion', async () => {
    const folder = await temporaryFolder(afterwards);
    const path = folder.path('relay.db');
    const queue = await openQueue(afterwards, sqliteQueue({ path, maxBytes: 16 * MIB }));
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    vi.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const add = (messageId: string, bytes: number) => {
      const common = { destination: 'W', source: 's', userId: 'u1', acceptedAt: Date.now() };
      return queue.add([{ ...common, messageId, body: randomBytes(bytes) }]);
    };
    await add('large', 40 * MIB); // one commit
    await expect(add('refused', 1)).rejects.toThrow('maxBytes');
    expect(await queue.purge({ userId: 'u1' })).toBe(1);
    await add('after', 1);
  });

  it.each([0, -1, 1.5, 16 * MIB - 1, Infinity, NaN, '20000000', null])('must not be %s', (maxBytes) => {
    const create = () => sqliteQueue({ maxBytes: maxBytes as never });
    expect(create).toThrow(OptionsError);
    expect(create).toThrow('maxBytes must be a whole number, 16777216 (16 MiB) or above');
  });
});
