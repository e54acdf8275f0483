import type { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { fromTraceText, traceIdOf } from '../../client/telemetry/trace-context.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { LogFields } from '../../common/line.logger.js';
import type { DispatchTelemetry } from '../../common/telemetry/telemetry.interface.js';
import { PAUSED } from '../queue/dead-reasons.js';
import { type Delivery, type DeliveryOutcome, deletionOf } from '../queue/delivery.interface.js';
import type { DeliveryEvent } from './delivery-event.js';

/**
 * Reports what happens to a destination and its deliveries: outcomes as events, failures also as log lines, and dead
 * deliveries as a metric.
 */
export class OutcomeReporter {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  /** Apart, so failed attempts do not suppress its lines. */
  private readonly stateLogger = new LimitedLogger('WebhookDispatcher');

  constructor(
    private readonly destination: string,
    private readonly events: Subject<DeliveryEvent>,
    private readonly telemetry?: DispatchTelemetry,
  ) {}

  report(delivery: Readonly<Delivery>, outcome: DeliveryOutcome): void {
    const event = toDeliveryEvent(delivery, outcome);
    if (!event) return;
    if (event.type === 'retry') {
      const next = new Date(event.nextAttemptAt).toISOString();
      this.logger.limited('warn', `${summary(event)}; next attempt at ${next}`, attemptFields(delivery, event));
    } else if (event.type === 'dead') {
      this.telemetry?.deadLetter?.(delivery);
      const line = `${summary(event)}; the delivery is dead and kept for replay: ${event.reason}`;
      // A pause of an endpoint is what its tenant wants.
      this.logger.limited(event.reason === PAUSED ? 'warn' : 'error', line, attemptFields(delivery, event));
    }
    this.events.next(event);
  }

  circuitChanged(change: 'opened' | 'closed'): void {
    const { destination } = this;
    if (change === 'closed') return this.stateLogger.log(`Destination ${destination} is up again`, { destination });
    const line = `Destination ${destination} is down: deliveries are held back except for one probe at a time`;
    this.stateLogger.error(line, { destination });
  }

  paused(until: number): void {
    const { destination } = this;
    const line = `Destination ${destination} asked for no requests until ${new Date(until).toISOString()} (Retry-After): deliveries are held back`;
    this.stateLogger.limited('warn', line, { destination });
  }

  notRead(error: unknown): void {
    const { destination } = this;
    const line = `Deliveries to ${destination} cannot be read: ${errorMessage(error)}`;
    this.stateLogger.limited('error', line, { destination });
  }

  notStored(delivery: Readonly<Delivery>, error: unknown): void {
    const line = `The outcome of message ${JSON.stringify(delivery.messageId)} could not be stored: ${errorMessage(error)}`;
    this.stateLogger.error(line, deliveryFields(delivery));
  }

  /** Logs how many lines were left out. */
  end(): void {
    this.logger.end();
    this.stateLogger.end();
  }
}

/** Returns the event for an outcome; undefined if the delivery was only put back. */
function toDeliveryEvent(delivery: Readonly<Delivery>, outcome: DeliveryOutcome): DeliveryEvent | undefined {
  const { destination, source, messageId, attempts } = delivery;
  const { attempt } = outcome;
  const settled = {
    destination,
    source,
    messageId,
    deletion: deletionOf(delivery),
    attempt: attempts.length + (attempt ? 1 : 0),
    results: attempt?.results ?? [],
  };
  if (outcome.state === 'delivered') return { type: 'delivered', ...settled };
  if (outcome.state === 'dead') return { type: 'dead', reason: outcome.reason, ...settled };
  return attempt && { type: 'retry', nextAttemptAt: outcome.nextAttemptAt, ...settled };
}

function deliveryFields({ id, messageId, destination, trace }: Readonly<Delivery>): LogFields {
  return { messageId, deliveryId: id, destination, traceId: trace && traceIdOf(fromTraceText(trace)) };
}

/** Of several URLs, the fields are the first status answered and the duration of the slowest request. */
function attemptFields(delivery: Readonly<Delivery>, { attempt, results }: DeliveryEvent): LogFields {
  return {
    ...deliveryFields(delivery),
    attempt,
    status: results.find(({ status }) => status !== undefined)?.status,
    latencyMs: results.length === 0 ? undefined : Math.max(...results.map(({ duration }) => duration)),
  };
}

function summary({ destination, messageId, attempt, results }: DeliveryEvent): string {
  const delivery = `Message ${JSON.stringify(messageId)} to ${destination}`;
  if (results.length === 0) return `${delivery}, attempts made: ${attempt}`;
  const answers = results.map(({ url, status, error }) => `${url}: ${[status, error].filter(Boolean).join(' ')}`);
  return `${delivery}, attempt ${attempt} failed (${answers.join(', ')})`;
}
