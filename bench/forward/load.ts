// Posts messages in batches to an endpoint, as SDKs do, with a few requests in flight.
import { Pool } from 'undici';

import { BATCH, trackMessage, WRITE_KEY } from '../support/messages.js';

/** Requests in flight. */
const CONNECTIONS = 8;

interface Load {
  url: string;
  /** First part of each messageId. */
  prefix: string;
  count: number;
}

process.on('message', ({ url, prefix, count }: Load) => {
  void post(url, prefix, count).then((milliseconds) => process.send!({ milliseconds }));
});
process.send!('ready');

async function post(url: string, prefix: string, count: number): Promise<number> {
  const bodies = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) =>
    JSON.stringify({
      batch: Array.from({ length: Math.min(BATCH, count - batch * BATCH) }, (_, index) =>
        trackMessage(`${prefix}-${batch * BATCH + index}`),
      ),
      writeKey: WRITE_KEY,
      sentAt: '2026-01-01T00:00:00.000Z',
    }),
  );
  const headers = {
    'content-type': 'application/json',
    authorization: `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`,
  };
  const pool = new Pool(url, { connections: CONNECTIONS });
  const start = performance.now();
  const worker = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const response = await pool.request({ path: '/v1/batch', method: 'POST', headers, body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await pool.close();
  return performance.now() - start;
}
