import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import { lastValueFrom, merge, mergeMap, Subject, takeUntil, takeWhile, tap } from 'rxjs';

import { describe } from '../../common/error.util.js';
import type { WebhookDestinationOptions } from '../options/webhook-destination.options.js';
import type { DeliveryQueue, Lease } from '../queue/delivery-queue.interface.js';
import { judgeAttempt } from './attempt.judge.js';
import type { DeliveryEvent } from './delivery.event.js';
import { DestinationSender, type SendResult } from './destination.sender.js';
import { NetworkPolicy } from './network.policy.js';
import { UndiciTransport } from './undici.transport.js';

/** How long a shutdown goes on taking due deliveries, in ms. */
const DRAIN_TIME = 2_000;

/** How long a shutdown waits in all until it releases what is still in flight, in ms. */
const STOP_TIME = 5_000;

/** Takes due deliveries from the queue, each destination at its own pace, and settles them by what their URLs answer. */
export class WebhookDispatcher {
  private readonly logger = new Logger('WebhookDispatcher');
  private readonly senders: Map<string, DestinationSender>;
  private readonly events = new Subject<DeliveryEvent>();
  private readonly stop$ = new Subject<void>();
  private finished: Promise<void> = Promise.resolve();
  private released = false;

  /** What became of each attempt. */
  readonly events$ = this.events.asObservable();

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly options: WebhookDestinationOptions,
  ) {
    const { timeout, concurrency, ca, allowedNetworks } = options.delivery;
    const policy = new NetworkPolicy(allowedNetworks);
    this.senders = new Map(
      options.destinations
        .filter(({ enabled }) => enabled)
        .map((destination) => [
          destination.name,
          new DestinationSender(destination, new UndiciTransport(policy, concurrency, ca), timeout),
        ]),
    );
  }

  /** Starts to deliver. */
  start(): void {
    const attempts$ = merge(
      ...[...this.senders].map(([destination, sender]) =>
        this.queue.consume(destination, this.options.delivery.concurrency).pipe(
          takeUntil(this.stop$),
          mergeMap((lease) => this.attempt(sender, lease)),
        ),
      ),
    );
    this.finished = lastValueFrom(attempts$, { defaultValue: undefined });
  }

  /** Delivers what is due, for a bounded time; what is not finished then stays in the queue. */
  async stop(): Promise<void> {
    const abort = new AbortController();
    const after = (delay: number) => sleep(delay, undefined, { signal: abort.signal }).catch(() => undefined);
    const end = after(STOP_TIME);
    await Promise.race([this.queue.idle(), after(DRAIN_TIME)]);
    this.stop$.next();
    await Promise.race([this.finished, end]);
    abort.abort();
    this.released = true;
    await Promise.all([...this.senders.values()].map((sender) => sender.close()));
    this.events.complete();
  }

  private async attempt(sender: DestinationSender, lease: Lease): Promise<void> {
    try {
      const startedAt = Date.now();
      const sent: SendResult[] = [];
      // The first success settles the delivery; the other requests run out on their own (§4.1).
      await lastValueFrom(
        merge(...sender.send(lease.delivery)).pipe(
          tap((result) => sent.push(result)),
          takeWhile(({ result }) => result.outcome !== 'success'),
        ),
        { defaultValue: undefined },
      );
      if (!this.released) await this.settle(lease, sent, startedAt);
    } catch (error) {
      this.logger.error(`Delivery ${lease.delivery.messageId} could not be settled: ${describe(error)}`);
    }
  }

  private async settle(lease: Lease, sent: SendResult[], startedAt: number): Promise<void> {
    const { delivery } = lease;
    const outcome = judgeAttempt(delivery, sent, this.options.delivery, startedAt);
    await lease.settle(outcome);

    const { destination, source, messageId, attempts } = delivery;
    const { results } = outcome.attempt;
    const attempt = { destination, source, messageId, attempt: attempts.length + 1, results };
    switch (outcome.state) {
      case 'delivered':
        return this.events.next({ type: 'delivered', ...attempt });
      case 'waiting':
        this.logger.warn(`${summary(attempt)}; next attempt at ${new Date(outcome.nextAttemptAt).toISOString()}`);
        return this.events.next({ type: 'retry', nextAttemptAt: new Date(outcome.nextAttemptAt), ...attempt });
      case 'dead':
        this.logger.error(`${summary(attempt)}; given up and kept: ${outcome.reason}`);
        return this.events.next({ type: 'dead', reason: outcome.reason, ...attempt });
    }
  }
}

function summary({ destination, messageId, attempt, results }: Omit<DeliveryEvent, 'type'>): string {
  const answers = results.map(({ url, status, error }) => `${url}: ${status ?? error}`).join(', ');
  return `Message ${messageId} to ${destination}, attempt ${attempt} failed (${answers})`;
}
