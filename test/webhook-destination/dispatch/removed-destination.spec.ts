import { expect, it } from '@jest/globals';
import { memoryQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { Relay } from '../../support/relay.js';

const cleanUp = useCleanUps();

it('What a process accepts for a destination before it learns that it was removed is ended, too', async () => {
  const queue = memoryQueue()();
  const relay = await Relay.start({ registry: 'store', queue: () => queue });
  cleanUp(() => relay.stop());
  await relay.service.destinations.create({ name: 'Webhooks', urls: ['https://customer.example/hook'] });
  await relay.service.destinations.pause('Webhooks');
  await queue.add([newDelivery('queued')]);
  await relay.service.destinations.remove('Webhooks');
  await relay.settled('dead');

  await queue.add([newDelivery('late')]);
  const dead = await relay.settled('dead', 2);
  expect(dead).toMatchObject(['queued', 'late'].map((messageId) => ({ messageId, reason: 'destination removed' })));
});
