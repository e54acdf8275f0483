// Leases a delivery from a shared queue, and does nothing with it until it is killed.
import { Logger } from '@nestjs/common';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

Logger.overrideLogger(false);
const queue = bullmqQueue(JSON.parse(process.argv[2]))();
await queue.open();
queue.consume('Webhooks', 1).subscribe(({ delivery }) => process.send(delivery.messageId));
