import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { occupyThreadPool } from './support/thread-pool.js';

describe.each(platforms)('On $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('a gzipped body that is all there is not given up because its inflating has to wait', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter());
    const folder = await temporaryFolder(afterwards);
    const release = occupyThreadPool(folder.path('fifo'));
    const answer = fetch(`${host}/v1/track`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body: gzipSync('{"writeKey":"wk_shop","userId":"u1","event":"Order Completed"}'),
    });
    await sleep(1_800); // longer than a body may stand still
    await release();
    expect((await answer).status).toBe(200);
  });
});
