import type { AsyncResource } from 'node:async_hooks';

import type { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { RelayTelemetry } from '../../common/telemetry/telemetry.interface.js';
import type { DeliveryOptions } from './delivery.options.js';
import {
  ADDRESS_NOT_ALLOWED,
  type Delivery,
  type DeliveryOutcome,
  type DeliveryQueue,
  type Lease,
} from '../queue/delivery-queue.interface.js';
import type { SendResult } from './attempt.js';
import { type AttemptOwner, LeasedAttempt } from './leased.attempt.js';
import { judgeAttempt, refuses, WINDOW_OVER } from './attempt-outcome.util.js';
import { bodyToSend } from './body-transform.js';
import { CircuitBreaker, type CircuitChange } from './circuit-breaker.js';
import type { DeliveryEvent } from './delivery-event.js';
import type { DestinationSender } from './destination.sender.js';
import { type LeaseHandler, LeaseIntake } from './lease.intake.js';
import { deliveryFields, OutcomeReporter } from './outcome.reporter.js';
import { type PausableDestination, pausedTime } from './pause.util.js';
import { lastAttemptAt } from './retry-schedule.util.js';

/**
 * Number of deliveries leased at once while the destination is down. One becomes the probe. Those whose window has
 * ended are given up in groups of this size, because other destinations wait for the same commits.
 */
const PROBE_CONCURRENCY = 8;

type DispatchedDestination = Pick<PausableDestination, 'name' | 'concurrency' | 'transform' | 'pauses'>;

/**
 * Leases the deliveries of one destination from the queue and settles them by its URLs' answers. While the destination
 * is down, deliveries stay in the queue: between probes, none are leased.
 */
export class DestinationDispatcher implements LeaseHandler, AttemptOwner {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  // Private, because it contains URLs, headers and keys.
  readonly #destination: DispatchedDestination;
  private readonly circuit: CircuitBreaker;
  private readonly reporter: OutcomeReporter;
  private readonly concurrency: number;
  private readonly intake: LeaseIntake;
  private inFlight = 0;
  private onIdle: (() => void) | undefined;
  private isStopped = false;
  private released = false;
  /** Whether the network policy stopped the last attempt, which is then the reason why deliveries are held back. */
  private isRefused = false;

  /** @param scope async context of its deliveries */
  constructor(
    destination: DispatchedDestination,
    private readonly sender: DestinationSender,
    private readonly options: DeliveryOptions,
    events: Subject<DeliveryEvent>,
    private readonly now: () => number,
    private readonly telemetry: RelayTelemetry | undefined,
    private readonly scope: AsyncResource,
  ) {
    this.#destination = destination;
    this.circuit = new CircuitBreaker(options.initialRetryDelay, options.maxRetryDelay);
    this.reporter = new OutcomeReporter(events, telemetry);
    this.concurrency = destination.concurrency ?? options.concurrency;
    this.intake = new LeaseIntake(destination.name, this, now);
  }

  /** Whether deliveries are held back because the destination is down. */
  get isDown(): boolean {
    return this.circuit.isOpen;
  }

  start(queue: Pick<DeliveryQueue, 'consume'>): void {
    this.intake.start(queue, this.concurrency);
  }

  /**
   * Stops leasing deliveries. Requests in flight continue; deliveries that wait for the rate limit or a connection
   * return to the queue.
   */
  stop(): void {
    this.isStopped = true;
    this.intake.stop();
    this.sender.endWaits();
  }

  /** Stops after the destination was changed or removed: requests that still wait are declined. */
  retire(): void {
    this.stop();
    this.sender.stop();
  }

  /** Attempts one delivery and settles it. */
  handle(lease: Lease): void {
    this.inFlight++;
    // The queue may emit a lease in the async context of the request that added it.
    this.inScope(lease, () => this.advance(lease, lease.delivery));
  }

  readFailed(error: unknown): void {
    const { name } = this.#destination;
    this.logger.limited('error', `Deliveries to ${name} cannot be read: ${errorMessage(error)}`, { destination: name });
    this.restUntil(this.now() + this.options.initialRetryDelay);
  }

  /** Resolves once no delivery is in flight. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.inFlight === 0) resolve();
      else this.onIdle = resolve;
    });
  }

  /** Resolves once no request is in progress, including those to the other URLs of settled deliveries. */
  requestsEnded(): Promise<void> {
    return this.sender.idle();
  }

  /** Drops deliveries in flight. They stay leased until the queue releases them. */
  async close(): Promise<void> {
    this.released = true;
    this.logger.end();
    this.reporter.end();
    await this.sender.close();
  }

  /** Leases no deliveries until a moment, except those whose window has ended: others would be put back. */
  private restUntil(moment: number): void {
    const resume = () => this.intake.take(this.circuit.isOpen ? PROBE_CONCURRENCY : this.concurrency);
    if (!this.intake.restUntil(moment, resume)) return;
    // The windows of more deliveries may have ended, if they began after a pause; those are given up when they are due.
    const over = this.now() - this.options.retryWindow - this.pausedSince(0);
    if (this.circuit.isOpenSince(over)) this.intake.consume(PROBE_CONCURRENCY, over);
  }

  /** Begins an attempt, or settles the delivery without one. */
  private advance(lease: Lease, delivery: Readonly<Delivery>): void {
    const outcome = this.decide(lease, delivery, this.now());
    if (outcome) void this.settle(lease, outcome);
  }

  /** Returns the outcome; undefined if an attempt begins, which settles the delivery. */
  private decide(lease: Lease, delivery: Readonly<Delivery>, now: number): DeliveryOutcome | undefined {
    const { failedUrls } = delivery;
    const begunAt = delivery.firstAttemptAt ?? this.circuit.windowStart(delivery.acceptedAt);
    const firstAttemptAt = begunAt ?? now;
    const { retryWindow } = this.options;
    const windowStart = firstAttemptAt + this.pausedSince(firstAttemptAt);
    const giveUp = (reason: string): DeliveryOutcome => ({
      state: 'dead',
      reason: this.circuit.isOpen && this.isRefused ? ADDRESS_NOT_ALLOWED : reason,
      failedUrls,
    });
    if (now >= windowStart + retryWindow) return giveUp(WINDOW_OVER);
    // Transformed before the circuit is asked: a delivery that sends nothing must not become its probe.
    const body = bodyToSend(this.#destination.transform, delivery, now);
    if (!Buffer.isBuffer(body)) return body;
    const last = Math.floor(lastAttemptAt(windowStart, retryWindow));
    if (!this.isStopped && this.circuit.admits(now, now >= last)) {
      const attempted = begunAt === delivery.firstAttemptAt ? delivery : { ...delivery, firstAttemptAt: begunAt };
      this.sender.send(new LeasedAttempt(lease, attempted, body, now, this.circuit.probe, this));
      return undefined;
    }
    // The window continues while the destination is down; no attempt is counted.
    if (now >= last) return giveUp(`${WINDOW_OVER}, with its destination down`);
    const nextAttemptAt = Math.min(this.circuit.holdUntil(now), last);
    this.restUntil(nextAttemptAt);
    return { state: 'waiting', nextAttemptAt, failedUrls, firstAttemptAt };
  }

  /** Returns whether an attempt may begin now that there is a connection for it. */
  mayBegin(attempt: LeasedAttempt): boolean {
    attempt.startedAt = this.now();
    if (this.isStopped || (attempt.probe === 0 && this.circuit.isOpen)) return false;
    attempt.span = this.telemetry?.attempt(attempt.delivery);
    return true;
  }

  /** Settles the delivery of an attempt that has ended, or advances it again if nothing was sent. */
  attempted(attempt: LeasedAttempt, sent: SendResult[] | undefined): void {
    const { lease, delivery } = attempt;
    // A connection may have become free in the async context of another destination.
    this.inScope(lease, () => {
      if (sent) void this.settle(lease, this.judge(attempt, sent));
      // While it waited for the rate limit or a connection, the destination went down or the application stopped.
      else if (this.isStopped && !this.circuit.isOpen) void this.settle(lease, undefined);
      else this.advance(lease, delivery);
    });
  }

  /** Returns the outcome of an attempt, and changes the circuit. */
  private judge({ delivery, declined, startedAt, probe, span }: LeasedAttempt, sent: SendResult[]): DeliveryOutcome {
    const paused = this.pausedSince(delivery.firstAttemptAt ?? startedAt);
    const outcome = judgeAttempt(delivery, sent, declined, this.options, startedAt, this.now, paused);
    (span ?? this.telemetry?.attempt(delivery))?.end(outcome.state); // no span yet if no URL got as far as a connection
    this.isRefused = outcome.state === 'dead' && outcome.reason === ADDRESS_NOT_ALLOWED;
    const answers = outcome.state === 'delivered' || refuses(sent);
    this.applyChange(answers ? this.circuit.succeed() : this.circuit.fail(this.now(), probe));
    return outcome;
  }

  /** @param outcome undefined returns the delivery to the queue unchanged */
  private async settle(lease: Lease, outcome: DeliveryOutcome | undefined): Promise<void> {
    try {
      if (!this.released && (await lease.settle(outcome)) && outcome) this.reporter.report(lease.delivery, outcome);
      this.leave();
    } catch (error) {
      this.abandon(lease, error);
    }
  }

  /** Drops a delivery, which stays leased until the queue releases it. */
  private abandon({ delivery }: Lease, error: unknown): void {
    const line = `The outcome of message ${JSON.stringify(delivery.messageId)} could not be stored: ${errorMessage(error)}`;
    this.logger.error(line, deliveryFields(delivery));
    this.leave();
  }

  private leave(): void {
    if (--this.inFlight === 0) this.onIdle?.();
  }

  /** Runs a step of a delivery in the dispatcher's async context. */
  private inScope(lease: Lease, step: () => void): void {
    try {
      this.scope.runInAsyncScope(step);
    } catch (error) {
      this.abandon(lease, error);
    }
  }

  /** Returns how long the destination was paused since a moment, in ms, which does not count towards the window. */
  private pausedSince(moment: number): number {
    const { pauses = [] } = this.#destination;
    return pauses.length === 0 ? 0 : pausedTime(pauses, moment, this.now());
  }

  private applyChange(change: CircuitChange): void {
    const destination = this.#destination.name;
    if (change === 'opened') {
      this.logger.error(`Destination ${destination} is down: deliveries are held back except for one probe at a time`, {
        destination,
      });
      this.restUntil(this.circuit.holdUntil(this.now()));
      // Others share the rate limit, and once stopped it has no more deliveries that wait there.
      if (!this.isStopped) this.sender.endWaits();
    } else if (change === 'closed') {
      this.logger.log(`Destination ${destination} is up again`, { destination });
      this.intake.take(this.concurrency);
    }
  }
}
