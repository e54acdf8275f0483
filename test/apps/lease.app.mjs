// Leases a delivery from a shared queue, and does nothing with it until it is killed or gets a message, which settles
// it; or plans its next attempt first. Configured by two JSON arguments: the options of the queue, and the wait before
// that attempt, in ms.
import { Logger } from '@nestjs/common';

import { sharedQueue } from './shared-queue.mjs';

Logger.overrideLogger(false);
const queue = sharedQueue(JSON.parse(process.argv[2]))();
await queue.open();
const delay = Number(process.argv[3]);
queue.consume('Webhooks', 1).subscribe(async ({ delivery, settle }) => {
  if (delay) await settle({ state: 'waiting', nextAttemptAt: Date.now() + delay, failedUrls: [] });
  else process.once('message', () => settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } }));
  process.send(delivery.messageId);
});
