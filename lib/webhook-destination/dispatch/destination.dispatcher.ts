import type { AsyncResource } from 'node:async_hooks';

import type { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { RelayTelemetry } from '../../common/telemetry/telemetry.interface.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { Delivery, DeliveryOutcome, DeliveryQueue, Lease } from '../queue/delivery-queue.interface.js';
import type { SteadyClock } from '../queue/steady-clock.js';
import type { SendResult } from './attempt.js';
import { type AttemptOwner, LeasedAttempt } from './leased.attempt.js';
import { judgeAttempt, refuses, requestedPause } from './attempt-outcome.util.js';
import { bodyToSend } from './body-transform.js';
import { CircuitBreaker, type CircuitChange } from './circuit-breaker.js';
import type { DeliveryEvent } from './delivery-event.js';
import type { DestinationSender } from './destination.sender.js';
import { type LeaseHandler, LeaseIntake } from './lease.intake.js';
import { deliveryFields, OutcomeReporter } from './outcome.reporter.js';
import { type PausableDestination, timeWithin } from './pause.util.js';
import { lastAttemptAt } from './retry-schedule.util.js';

/** Number of deliveries leased at once for a probe: one becomes the probe, the others return to the queue. */
const PROBE_CONCURRENCY = 8;

type DispatchedDestination = Pick<PausableDestination, 'name' | 'concurrency' | 'transform' | 'pauses'>;

/**
 * Leases the deliveries of one destination from the queue and settles them by its URLs' answers. While the destination
 * is down, deliveries stay in the queue: between probes, none are leased. A delivery dies only of an attempt.
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

  /** @param scope async context of its deliveries */
  constructor(
    destination: DispatchedDestination,
    private readonly sender: DestinationSender,
    private readonly options: DeliveryOptions,
    events: Subject<DeliveryEvent>,
    private readonly clock: Pick<SteadyClock, 'now' | 'jumps'>,
    private readonly telemetry: RelayTelemetry | undefined,
    private readonly scope: AsyncResource,
  ) {
    this.#destination = destination;
    this.circuit = new CircuitBreaker(options.initialRetryDelay, options.maxRetryDelay);
    this.reporter = new OutcomeReporter(events, telemetry);
    this.concurrency = destination.concurrency ?? options.concurrency;
    this.intake = new LeaseIntake(destination.name, this, () => clock.now());
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
    this.inScope(lease, () => this.advance(lease));
  }

  readFailed(error: unknown): void {
    const { name } = this.#destination;
    this.logger.limited('error', `Deliveries to ${name} cannot be read: ${errorMessage(error)}`, { destination: name });
    this.restUntil(this.clock.now() + this.options.initialRetryDelay);
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

  /** Leases no deliveries until a moment: they would be put back. */
  private restUntil(moment: number): void {
    this.intake.restUntil(moment, () => this.intake.take(this.circuit.isOpen ? PROBE_CONCURRENCY : this.concurrency));
  }

  /** Begins an attempt, or settles the delivery without one: it is put back, or its `transform` sends nothing. */
  private advance(lease: Lease): void {
    const { delivery } = lease;
    const now = this.clock.now();
    // Transformed before the circuit is asked: a delivery that sends nothing must not become its probe.
    const body = bodyToSend(this.#destination.transform, delivery, now);
    if (!Buffer.isBuffer(body)) return void this.settle(lease, body);
    const isLast = this.circuit.isOpen && now >= this.lastAttemptOf(delivery);
    const probe = this.isStopped ? undefined : this.circuit.admit(now, isLast);
    if (probe === undefined) {
      this.restUntil(this.circuit.holdUntil(now));
      return void this.settle(lease, undefined);
    }
    // Many last attempts may be due.
    if (isLast) this.intake.take(this.concurrency);
    this.sender.send(new LeasedAttempt(lease, delivery, body, now, probe, isLast, this));
  }

  /**
   * Returns when the last attempt of a delivery is due, in ms since the epoch. The window of one without attempts is
   * measured from when the open circuit began to hold it back.
   */
  private lastAttemptOf({ firstAttemptAt, acceptedAt }: Readonly<Delivery>): number {
    const start = firstAttemptAt ?? Math.max(acceptedAt, this.circuit.openedAt);
    return Math.floor(lastAttemptAt(start + this.extensionSince(start), this.options.retryWindow));
  }

  /** Returns whether an attempt may begin now that there is a connection for it. */
  mayBegin(attempt: LeasedAttempt): boolean {
    const now = (attempt.startedAt = this.clock.now());
    const isHeld = this.circuit.isOpen && attempt.probe === 0 && !attempt.isLast;
    if (this.isStopped || isHeld || this.circuit.isPaused(now)) return false;
    attempt.span = this.telemetry?.attempt(attempt.delivery);
    return true;
  }

  /** Settles the delivery of an attempt that has ended, or advances it again if nothing was sent. */
  attempted(attempt: LeasedAttempt, sent: SendResult[] | undefined): void {
    const { lease } = attempt;
    // A connection may have become free in the async context of another destination.
    this.inScope(lease, () => {
      if (sent) void this.settle(lease, this.judge(attempt, sent));
      // While it waited for the rate limit or a connection, the destination went down or the application stopped.
      else this.advance(lease);
    });
  }

  /** Returns the outcome of an attempt, and changes the circuit. */
  private judge(attempt: LeasedAttempt, sent: SendResult[]): DeliveryOutcome {
    const { delivery, startedAt, probe, span } = attempt;
    const extension = this.extensionSince(delivery.firstAttemptAt ?? startedAt);
    const now = () => this.clock.now();
    attempt.isLast &&= this.circuit.isOpen; // otherwise another delivery got through meanwhile
    const outcome = judgeAttempt(attempt, sent, this.options, now, extension);
    (span ?? this.telemetry?.attempt(delivery))?.end(outcome.state); // no span yet if no URL got as far as a connection
    const answers = outcome.state === 'delivered' || refuses(sent);
    this.applyChange(answers ? this.circuit.succeed() : this.circuit.fail(now(), probe));
    if (outcome.state !== 'delivered') this.pauseFor(requestedPause(sent), outcome);
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

  /** Returns the time since a moment that does not count towards the retry window, in ms: pauses, and jumps of the clock. */
  private extensionSince(moment: number): number {
    const now = this.clock.now(); // before `jumps` are read, because it finds them
    const { pauses = [] } = this.#destination;
    const { jumps } = this.clock;
    return pauses.length + jumps.length === 0 ? 0 : timeWithin([...pauses, ...jumps], moment, now);
  }

  /** Makes no requests for a time that the receiver asked for, in ms, but for no longer than the delivery waits. */
  private pauseFor(time: number, outcome: Exclude<DeliveryOutcome, { state: 'delivered' }>): void {
    const now = this.clock.now();
    const end = outcome.state === 'waiting' ? outcome.nextAttemptAt : now + this.options.retryWindow;
    const until = Math.min(now + time, end);
    if (!this.circuit.pause(until, now)) return;
    const destination = this.#destination.name;
    const line = `Destination ${destination} asked for no requests until ${new Date(until).toISOString()} (Retry-After): deliveries are held back`;
    this.logger.limited('warn', line, { destination });
    this.holdBack();
  }

  /** Returns to the queue what has not been sent. */
  private holdBack(): void {
    this.restUntil(this.circuit.holdUntil(this.clock.now()));
    // Others share the rate limit, and once stopped it has no more deliveries that wait there.
    if (!this.isStopped) this.sender.endWaits();
  }

  private applyChange(change: CircuitChange): void {
    const destination = this.#destination.name;
    if (change === 'opened') {
      this.logger.error(`Destination ${destination} is down: deliveries are held back except for one probe at a time`, {
        destination,
      });
      this.holdBack();
    } else if (change === 'closed') {
      this.logger.log(`Destination ${destination} is up again`, { destination });
      if (!this.circuit.isPaused(this.clock.now())) this.intake.take(this.concurrency);
    }
  }
}
