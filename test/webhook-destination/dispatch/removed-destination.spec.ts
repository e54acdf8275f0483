import { setImmediate as turn } from 'node:timers/promises';

import { memoryQueue } from 'nestjs-analytics-relay';
import { expect, it, vi } from 'vitest';

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
  const consume = vi.spyOn(queue, 'consume');
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(consume.mock.calls.length).toBeLessThan(3); // nobody looks for more without end
  expect(dead).toMatchObject(['queued', 'late'].map((messageId) => ({ messageId, reason: 'destination removed' })));
});
