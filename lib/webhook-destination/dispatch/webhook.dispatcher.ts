import { setTimeout as sleep } from 'node:timers/promises';

import { Subject } from 'rxjs';

import type { Concealed } from '../../common/concealed.value.js';
import { LineLogger } from '../../common/line.logger.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady-clock.js';
import type { DeliveryEvent } from './delivery-event.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { DestinationDispatcher } from './destination.dispatcher.js';
import { DestinationSender } from './destination.sender.js';
import { proxyChoice } from './egress-proxy.js';
import { NetworkCheck } from './network-check.js';
import { NetworkPolicy } from './network.policy.js';
import { openFilesLimit } from './open-files-limit.js';
import { socketBudget } from './socket-budget.js';
import { RequestLimit } from './request-limit.js';
import type { PoolFactory } from './transport.factory.js';
import { isWebhookTransport } from './webhook-transport.interface.js';
import { WebhookHeaders } from './webhook-headers.js';
import { toWebhookTarget } from './webhook-target.js';

/** How long due deliveries are still taken during shutdown, in ms. */
const DRAIN_TIME = 2_000;

/** Total time limit of a shutdown, in ms; deliveries in flight are then released. */
const STOP_TIME = 5_000;

/** Concurrent requests to one URL, as a multiple of the concurrency. */
const ACTIVE_FACTOR = 4;

/** The options of the module that dispatch uses. */
interface DispatchOptions {
  destinations: DestinationOptions[];
  delivery: DeliveryOptions;
}

/** Takes due deliveries from the queue, each destination at its own pace and over its own connections. */
export class WebhookDispatcher {
  private readonly logger = new LineLogger('WebhookDestination');
  private readonly events = new Subject<DeliveryEvent>();
  // Private, because they contain URLs, headers and keys.
  readonly #dispatchers: DestinationDispatcher[] = [];
  #check: NetworkCheck | undefined;
  private leaveBudget: () => void = () => undefined;

  /** The outcome of each attempt. */
  readonly events$ = this.events.asObservable();

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly options: Concealed<DispatchOptions>,
  ) {}

  /** Starts to deliver. */
  start(createPool: PoolFactory): void {
    const { delivery, destinations: all } = this.options.reveal();
    this.leaveBudget = this.joinBudget();
    const now = () => timeOf(this.queue);
    const destinations = all.filter(({ enabled }) => enabled);
    for (const destination of destinations) {
      const { name, urls, rateLimit, transform } = destination;
      const { concurrency = delivery.concurrency, retryOn = delivery.retryOn } = destination;
      const routes = urls.map(toWebhookTarget).map((target) => ({
        target,
        pool: createPool(target, concurrency),
        active: 0,
      }));
      const sender = new DestinationSender(
        new WebhookHeaders(destination),
        routes,
        concurrency * ACTIVE_FACTOR,
        retryOn,
        rateLimit && new RequestLimit(rateLimit),
      );
      const options = { ...delivery, concurrency };
      const dispatcher = new DestinationDispatcher(name, sender, options, this.events, now, transform);
      this.#dispatchers.push(dispatcher);
      dispatcher.start(this.queue);
    }
    if (isWebhookTransport(delivery.transport)) return; // it is responsible for its connections
    const policy = new NetworkPolicy(delivery.allowedNetworks, delivery.deniedNetworks);
    this.#check = new NetworkCheck(policy, this.queue, destinations, proxyChoice(delivery.proxy));
    void this.#check.run();
  }

  private joinBudget(): () => void {
    const { maxSockets } = this.options.reveal().delivery;
    const budget = socketBudget();
    if (maxSockets !== undefined && maxSockets > budget.ceiling) {
      this.logger.warn(
        `delivery.maxSockets is ${maxSockets}, and ${budget.ceiling} connections are opened at most: three quarters of ` +
          `the ${openFilesLimit()} files that this process may open (ulimit -n)`,
      );
    }
    return budget.join(maxSockets);
  }

  /** Delivers what is due, for a bounded time; the rest stays in the queue. */
  async stop(): Promise<void> {
    this.#check?.stop();
    const abort = new AbortController();
    const after = (delay: number) => sleep(delay, undefined, { signal: abort.signal }).catch(() => undefined);
    const idle = () => Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.idle()));
    const end = after(STOP_TIME);
    await Promise.race([this.queue.idle(), after(DRAIN_TIME)]);
    for (const dispatcher of this.#dispatchers) dispatcher.stop();
    await Promise.race([idle(), end]);
    abort.abort();
    await Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.close()));
    this.leaveBudget();
    this.events.complete();
  }
}
