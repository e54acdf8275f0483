import { ExpressAdapter } from '@nestjs/platform-express';
import {
  type Claim,
  type Delivery,
  DeliveryQueue,
  type DeliveryStore,
  type Insertion,
  type OldestDelivery,
  QueueUnavailableError,
  type Retention,
  type Settlement,
  type StoreBatch,
  type StoreOwner,
} from 'nestjs-analytics-relay';
import { NEVER } from 'rxjs';
import { expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';
import { waitFor } from '../../support/wait-for.js';

const unbounded = { age: Infinity, count: Infinity, bytes: Infinity };
const retention: Retention = { delivered: unbounded, dead: unbounded, messageIds: unbounded, refused: unbounded };

/** The least that an application can make a store of. */
class OwnStore implements DeliveryStore {
  readonly isShared = false;
  readonly fullTurn = 1;
  readonly transactions = undefined;
  readonly peers = undefined;
  readonly due$ = NEVER;
  readonly registry = { read: () => Promise.resolve([]), write: () => Promise.resolve(undefined) };
  readonly series = { read: () => Promise.resolve([]), write: () => Promise.resolve() };
  readonly logs = {
    write: () => Promise.resolve(false),
    update: () => Promise.resolve(),
    read: () => Promise.resolve([]),
    find: () => Promise.resolve([]),
    remove: () => Promise.resolve(0),
    names: () => Promise.resolve([]),
    removeOld: () => Promise.resolve(0),
  };
  readonly due: Delivery[] = [];
  readonly settled: Settlement[] = [];
  now = () => Date.now();
  holdsLeases = () => true;
  open = (_owner?: StoreOwner) => Promise.resolve();
  list = () => Promise.resolve([]);
  search = () => Promise.resolve({ deliveries: [], next: undefined });
  check = () => Promise.resolve({ isFull: false, freeDisk: undefined, unreadable: 0 });
  oldest = (): Promise<OldestDelivery[]> => Promise.resolve([]);
  counts = () => Promise.resolve([]);
  keptSince = () => Promise.resolve([]);
  replay = () => Promise.resolve([]);
  expedite = () => Promise.resolve(0);
  purge = () => Promise.resolve([]);
  scrub = () => Promise.resolve();
  sweep = () => Promise.resolve({ removed: 0, surplus: [] });
  beginClose = () => undefined;
  close = () => Promise.resolve();

  remembers = () => Promise.resolve([]);

  insert(batches: StoreBatch[]): Promise<Insertion[]> {
    for (const { deliveries } of batches) {
      for (const delivery of deliveries) {
        this.due.push({ ...delivery, id: delivery.messageId, firstAttemptAt: undefined, attempts: [], failedUrls: [] });
      }
    }
    return Promise.resolve(batches.map(() => ({ leased: [], repeated: [] })));
  }

  claim(destination: string): Promise<Claim> {
    const deliveries = this.due.splice(0).filter((delivery) => delivery.destination === destination);
    return Promise.resolve({ deliveries, more: false, nextDueAt: undefined });
  }

  settle(settlements: Settlement[]): Promise<boolean[]> {
    this.settled.push(...settlements);
    return Promise.resolve(settlements.map(() => true));
  }
}

const afterwards = useCleanUps();

it('An application delivers from a store of its own', async () => {
  const store = new OwnStore();
  const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
    options: { queue: () => new DeliveryQueue(store, retention) },
  });
  for (const messageId of ['m1', 'm2']) {
    expect((await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId })).status).toBe(200);
  }
  await waitFor(() => store.settled.length === 2);
  expect(store.settled.map(({ outcome }) => outcome?.state)).toEqual(['delivered', 'delivered']);
  expect(receiver.webhooks.map(({ headers }) => headers['x-message-id']).sort()).toEqual(['m1', 'm2']);
});

/** Stores what it is given, and loses the answer. */
class DoubtfulStore extends OwnStore {
  owner: StoreOwner | undefined;
  override open = (owner?: StoreOwner) => {
    this.owner = owner;
    return Promise.resolve();
  };
  override oldest = () => Promise.resolve(this.due);

  override async insert(batches: StoreBatch[]): Promise<Insertion[]> {
    await super.insert(batches);
    throw new QueueUnavailableError('the answer was lost');
  }
}

it('What a failed write has stored is delivered once the store is open again, without another message', async () => {
  const store = new DoubtfulStore();
  const { host, receiver } = await startRelayApp(afterwards, new ExpressAdapter(), {
    options: { queue: () => new DeliveryQueue(store, retention) },
  });
  expect((await post(`${host}/v1/track`, { userId: 'u1', event: 'Ordered', messageId: 'm1' })).status).toBe(503);
  expect(receiver.webhooks).toEqual([]);
  store.owner!.reopened();
  await receiver.received(1);
});
