// Readers of the admin API who search without a pause for what there is not.
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

const [host, token, readers] = process.argv.slice(2) as [string, string, string];
const headers = { authorization: `Bearer ${token}` };
const pool = new Pool(host, { connections: Number(readers) });
let answers = 0;

async function read(): Promise<never> {
  for (let cursor: string | undefined; ;) {
    const more = cursor === undefined ? '' : `&cursor=${cursor}`;
    const response = await pool.request({
      path: `/relay/api/deliveries?event=None${more}`,
      method: 'GET',
      headers,
      headersTimeout: 60_000,
    });
    const answer = (await response.body.json()) as { cursor?: string };
    if (response.statusCode === 200) {
      answers++;
      cursor = answer.cursor;
    } else {
      await sleep(Number(response.headers['retry-after'] ?? 1) * 1_000);
    }
  }
}

process.on('unhandledRejection', () => process.exit()); // the relay has ended
for (let reader = 0; reader < Number(readers); reader++) void read();
process.on('message', () => process.send!(answers));
process.send!('ready');
