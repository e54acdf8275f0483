// A relay with a healthy destination, and with or without a dead one beside it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { SECRET, WRITE_KEY } from '../support/messages.js';

const [healthy, dead] = process.argv.slice(2) as [string, string | undefined];
const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));

class IsolationApp {}
const app = await NestFactory.create(
  {
    module: IsolationApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: WRITE_KEY }],
        destinations: [
          { name: 'Healthy', urls: [healthy], sharedSecret: SECRET },
          ...(dead ? [{ name: 'Dead', urls: [dead], sharedSecret: SECRET }] : []),
        ],
        queue: sqliteQueue({ path: join(folder, 'relay.db') }),
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      }),
    ],
  },
  { logger: false },
);
await app.listen(0, '127.0.0.1');
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
process.send!({ url: await app.getUrl() });
