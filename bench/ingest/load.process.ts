// Posts requests as fast as they are answered.
import { Pool } from 'undici';

import { requestsOf, type Shape, WRITE_KEY } from './events.js';

/** Requests in flight. */
const CONNECTIONS = 32;

/** What the bench asks for. */
export interface Load {
  url: string;
  shape: Shape;
  count: number;
  /** Id of the first event. */
  first: number;
}

const headers = {
  'content-type': 'application/json',
  authorization: `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`,
};

async function post({ url, shape, count, first }: Load): Promise<{ elapsed: number }> {
  const { path, bodies } = requestsOf(shape, count, first);
  const pool = new Pool(url, { connections: CONNECTIONS });
  const start = performance.now();
  const worker = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const response = await pool.request({ path, method: 'POST', headers, body });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const elapsed = performance.now() - start;
  await pool.close();
  return { elapsed };
}

process.on('message', (load: Load) => void post(load).then((answer) => process.send!(answer)));
process.send!('ready');
