// Posts messages in batches to an endpoint, as SDKs do, with a few requests in flight, and says which were acknowledged.
import { Pool } from 'undici';

import { BATCH, trackMessage, WRITE_KEY } from '../support/messages.js';

/** Requests in flight. */
const CONNECTIONS = 8;

export interface Load {
  url: string;
  /** First part of each messageId, before its number. */
  prefix: string;
  count: number;
}

const headers = {
  'content-type': 'application/json',
  authorization: `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`,
};

interface Batch {
  ids: string[];
  body: string;
}

function prepare({ prefix, count }: Load): Batch[] {
  return Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => {
    const length = Math.min(BATCH, count - batch * BATCH);
    const ids = Array.from({ length }, (_, index) => `${prefix}-${batch * BATCH + index}`);
    return { ids, body: JSON.stringify({ batch: ids.map(trackMessage), writeKey: WRITE_KEY }) };
  }).reverse();
}

/** Resolves with the ids of the messages that were answered with 200. A connection ends at its first failure. */
async function post(url: string, batches: Batch[]): Promise<string[]> {
  const acknowledged: string[] = [];
  const pool = new Pool(url, { connections: CONNECTIONS });
  const client = async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const response = await pool.request({ path: '/v1/batch', method: 'POST', headers, body: batch.body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
      acknowledged.push(...batch.ids);
    }
  };
  await Promise.allSettled(Array.from({ length: CONNECTIONS }, client));
  await pool.destroy();
  return acknowledged;
}

let url = '';
let batches: Batch[] = [];
process.on('message', (order: Load | 'post') => {
  if (order === 'post') {
    void post(url, batches).then((acknowledged) => process.send!(acknowledged));
  } else {
    url = order.url;
    batches = prepare(order);
    process.send!('prepared');
  }
});
process.on('disconnect', () => process.exit());
process.send!('ready');
