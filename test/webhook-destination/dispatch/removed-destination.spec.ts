import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type DeliveryEvent, memoryQueue } from 'nestjs-analytics-relay';
import { Subject } from 'rxjs';

import { OutcomeReporter } from '../../../lib/webhook-destination/dispatch/outcome.reporter.js';
import { RemovedDestination } from '../../../lib/webhook-destination/dispatch/removed.destination.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { waitFor } from '../../support/wait-for.js';

jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

const afterwards = useCleanUps();

it('A removed destination gets nothing, nor what a process accepted that had not learned of it yet', async () => {
  const queue = memoryQueue()();
  await queue.open();
  afterwards(() => queue.close());
  const events = new Subject<DeliveryEvent>();
  const ended: string[] = [];
  events.subscribe(({ messageId }) => ended.push(messageId));
  await queue.add([newDelivery('queued')]);

  const removed = new RemovedDestination('Webhooks', queue, new OutcomeReporter(events), 200).end();
  await waitFor(() => ended.length === 1);
  await queue.add([newDelivery('late')]);
  await removed;

  expect(ended).toEqual(['queued', 'late']);
  expect(await queue.list({ reason: 'destination removed' })).toHaveLength(2);
});
