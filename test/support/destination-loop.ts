import { AsyncResource } from 'node:async_hooks';

import { Subject } from 'rxjs';

import { DeliveryOptions } from '../../lib/webhook-destination/dispatch/delivery.options.js';
import { DestinationLoop } from '../../lib/webhook-destination/dispatch/destination.loop.js';
import { DestinationOptions } from '../../lib/webhook-destination/dispatch/destination.options.js';
import type { PausableDestination } from '../../lib/webhook-destination/dispatch/pause.util.js';
import { SteadyClock } from '../../lib/webhook-destination/queue/steady-clock.js';
import type { PooledRequest } from '../../lib/webhook-destination/transport/connection-pool.js';

/** Creates the loop of a destination with one URL, whose requests are handed to `post`. */
export function createLoop(
  post: (request: PooledRequest) => void,
  {
    pauses = [],
    retryWindow,
    options = {},
    clock = new SteadyClock(() => Date.now()),
  }: Partial<{
    pauses: PausableDestination['pauses'];
    retryWindow: number;
    options: Partial<DeliveryOptions>;
    clock: Pick<SteadyClock, 'now' | 'jumps'>;
  }> = {},
): DestinationLoop {
  const destination = Object.assign(new DestinationOptions(), {
    name: 'Webhooks',
    urls: ['https://receiver.example/hook'],
    pauses,
    retryWindow,
  });
  const pool = { post, endWaits: () => undefined, close: () => Promise.resolve() };
  return new DestinationLoop(destination, {
    options: Object.assign(new DeliveryOptions(), options),
    createPool: () => pool,
    events: new Subject(),
    clock,
    scope: new AsyncResource('test'),
  });
}
