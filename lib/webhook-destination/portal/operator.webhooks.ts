import { setTimeout as sleep } from 'node:timers/promises';

import type { Observable } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { AcceptedMessage } from '../ingest/accepted-message.js';
import { ParsedMessage } from '../ingest/parsed-message.js';
import type { NewDelivery } from '../queue/delivery.interface.js';
import { toWebhookBody } from '../routing/webhook-body.util.js';
import type { OperationalEvent } from './operational-event.js';

/** Source of operational webhooks, as receivers see it in `webhook-id`. */
const SOURCE = 'portal';

/** Wait after a failure of the queue, in ms. */
const RETRY_DELAY = 1_000;

/** Maximum number of webhooks that wait for the queue. */
const MAX_WAITING = 10_000;

/** Minimum time between two webhooks about dead deliveries of an endpoint, in ms: a tenant can cause many. */
const EXHAUSTED_INTERVAL = 60_000;

/** Queues operational events as track messages for one fixed destination: the operator's. */
export class OperatorWebhooks {
  private readonly logger = new LimitedLogger('WebhookDestination');
  private readonly closing = new AbortController();
  /** When the last webhook about a dead delivery was, by endpoint. */
  private readonly exhaustedAt = new Map<string, number>();
  private waiting: NewDelivery[] = [];
  private lost = 0;
  private writing: Promise<void> | undefined;

  /** @param store queues them durably, beyond the size limit of the queue as well */
  constructor(
    private readonly operator: string,
    private readonly store: (deliveries: NewDelivery[]) => Promise<number>,
    private readonly now: () => number,
    events$: Observable<OperationalEvent>,
  ) {
    events$.subscribe((event) => this.add(event));
  }

  /** Called once no more events come. What the queue does not take now is lost. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.writing;
    const lost = this.lost + this.waiting.length;
    if (lost > 0) this.logger.error(`Operational webhooks lost, as the queue could not store them: ${lost}`);
    this.logger.end();
  }

  private add(event: OperationalEvent): void {
    if (event.type === 'delivery.exhausted' && !this.isDue(event)) return;
    if (this.waiting.length < MAX_WAITING) this.waiting.push(this.toDelivery(event));
    else this.lost++;
    this.writing ??= this.write();
  }

  private isDue({ destination, at }: OperationalEvent): boolean {
    const isPast = (time: number) => Math.abs(at - time) >= EXHAUSTED_INTERVAL;
    if (!isPast(this.exhaustedAt.get(destination) ?? -Infinity)) return false;
    this.exhaustedAt.delete(destination);
    this.exhaustedAt.set(destination, at); // as the last
    for (const [name, time] of this.exhaustedAt) {
      if (!isPast(time)) break;
      this.exhaustedAt.delete(name);
    }
    return true;
  }

  /** Stores what waits, and what is added meanwhile. Never rejects. */
  private async write(): Promise<void> {
    await Promise.resolve(); // events of one turn are stored together
    while (this.waiting.length > 0) {
      const taken = this.waiting;
      this.waiting = [];
      try {
        await this.store(taken);
        this.logger.succeeded();
      } catch (error) {
        this.logger.failed(`Operational webhooks cannot be stored, trying again: ${errorMessage(error)}`);
        this.waiting = [...taken, ...this.waiting]; // with their ids: some may be stored
        if (this.closing.signal.aborted) break;
        const { signal } = this.closing;
        await sleep(RETRY_DELAY, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
    this.writing = undefined;
  }

  private toDelivery({ type, at, ...properties }: OperationalEvent): NewDelivery {
    const { tenant } = properties;
    const posted = { type: 'track', event: type, anonymousId: tenant, properties, timestamp: new Date(at) };
    const message = new AcceptedMessage(new ParsedMessage(posted), at);
    return {
      destination: this.operator,
      source: SOURCE,
      messageId: message.messageId,
      userId: undefined,
      body: toWebhookBody(message),
      acceptedAt: this.now(),
    };
  }
}
