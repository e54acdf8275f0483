import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';

import type { PrepareRequest } from '../../../lib/webhook-destination/dispatch/connection-pool.js';
import type { DeliveryEvent } from '../../../lib/webhook-destination/dispatch/delivery-event.js';
import { DeliveryOptions } from '../../../lib/webhook-destination/dispatch/delivery.options.js';
import { DestinationDispatcher } from '../../../lib/webhook-destination/dispatch/destination.dispatcher.js';
import { DestinationOptions } from '../../../lib/webhook-destination/dispatch/destination.options.js';
import { DestinationSender } from '../../../lib/webhook-destination/dispatch/destination.sender.js';
import { WebhookHeaders } from '../../../lib/webhook-destination/dispatch/webhook-headers.js';
import { toWebhookTarget } from '../../../lib/webhook-destination/dispatch/webhook-target.js';
import type { WebhookResponse } from '../../../lib/webhook-destination/dispatch/webhook-transport.interface.js';
import type { DeliveryOutcome, Lease } from '../../../lib/webhook-destination/queue/delivery-queue.interface.js';

/** A pool that takes one request at a time, and begins it when it is told to. */
class OneByOne {
  begin: (() => void) | undefined;
  requests = 0;

  get hasRoom(): boolean {
    return this.begin === undefined;
  }

  post(prepare: PrepareRequest): Promise<WebhookResponse> {
    this.requests++;
    return new Promise<number>((resolve) => {
      this.begin = () => {
        this.begin = undefined;
        resolve(0);
      };
    })
      .then(prepare)
      .then(() => ({ status: 200 }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('Deliveries that wait for a connection', () => {
  function start() {
    const pool = new OneByOne();
    const routes = [{ target: toWebhookTarget('https://receiver.example/hook'), pool, active: 0 }];
    const sender = new DestinationSender(new WebhookHeaders(new DestinationOptions()), routes, 64);
    const events = new Subject<DeliveryEvent>();
    const dispatcher = new DestinationDispatcher({ name: 'Webhooks' }, sender, new DeliveryOptions(), events);
    const leases = new Subject<Lease>();
    dispatcher.start({ consume: () => leases });
    /** Hands a delivery out and resolves with its outcome. */
    const hand = (messageId: string) =>
      new Promise<DeliveryOutcome | undefined>((resolve) => {
        const delivery = {
          id: messageId,
          destination: 'Webhooks',
          source: 'shop',
          messageId,
          userId: undefined,
          body: Buffer.from('{}'),
          acceptedAt: Date.now(),
          firstAttemptAt: undefined,
          attempts: [],
          failedUrls: [],
        };
        leases.next({
          delivery,
          settle: (outcome) => {
            resolve(outcome);
            return Promise.resolve(true);
          },
        });
      });
    return { dispatcher, pool, outcomes: ['m1', 'm2', 'm3'].map(hand) };
  }

  it('become requests one by one, in their order, as those before them begin', async () => {
    const { pool, outcomes } = start();
    for (const [index, outcome] of outcomes.entries()) {
      expect(pool.requests).toBe(index + 1);
      pool.begin!();
      expect(await outcome).toMatchObject({ state: 'delivered' });
    }
    expect(pool.requests).toBe(3);
  });

  it('return to the queue when the application stops', async () => {
    const { dispatcher, pool, outcomes } = start();
    dispatcher.stop();
    expect(await Promise.all(outcomes.slice(1))).toEqual([undefined, undefined]);
    expect(pool.requests).toBe(1);
    pool.begin!();
    expect(await outcomes[0]).toBeUndefined();
    await dispatcher.idle();
  });

  it('are dead when their destination is removed', async () => {
    const { dispatcher, outcomes } = start();
    dispatcher.stop(true);
    expect(await Promise.all(outcomes.slice(1))).toMatchObject([
      { state: 'dead', reason: 'destination removed' },
      { state: 'dead', reason: 'destination removed' },
    ]);
  });
});
