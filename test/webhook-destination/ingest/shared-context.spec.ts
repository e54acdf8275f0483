import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const MESSAGES = 2_500;

describe('A context that a batch shares with 2,500 messages', () => {
  const cleanUp = useCleanUps();

  it.each([
    ['plain', 'delivered', 200, undefined],
    ['gzip', 'delivered', 200, 'gzip'],
    ['plain', 'waiting', 503, undefined],
    ['plain', 'dead', 410, undefined],
  ] as const)('takes little room in the file, posted %s, and %s', async (_how, state, status, encoding) => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    const { host, receiver, app, relay } = await startRelayApp(cleanUp, platforms[1]!.createAdapter(), {
      options: { queue: sqliteQueue({ path, retention: { delivered: { count: 100_000 } } }) },
    });
    receiver.statuses = [status];
    const context = { page: { title: randomBytes(4_900).toString('base64') } };
    const batch = Array.from({ length: MESSAGES }, () => ({ type: 'page', userId: 'user-1', name: 'Home' }));
    const text = JSON.stringify({ context, batch });
    expect(text.length).toBeGreaterThan(100_000);
    const posted = await fetch(`${host}/v1/batch`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from('wk_shop:').toString('base64')}`,
        ...(encoding && { 'Content-Encoding': encoding }),
      },
      body: encoding ? gzipSync(text) : text,
    });
    expect(posted.status).toBe(200);
    // Those of a receiver that is down wait without an attempt.
    const states = state === 'waiting' ? ['waiting', 'queued'] : [state];
    await waitFor(
      async () => {
        const found = (await relay.stats()).filter((row) => states.includes(row.state));
        return found[0] !== undefined && found.reduce((sum, { count }) => sum + count, 0) === MESSAGES;
      },
      () => `${MESSAGES} ${state}`,
    );
    expect(receiver.webhooks[0]!.body).toMatchObject({ userId: 'user-1', context });
    await app.close(); // so that nothing is left in the log
    expect(statSync(path).size).toBeLessThan(4_000_000);
  });
});
