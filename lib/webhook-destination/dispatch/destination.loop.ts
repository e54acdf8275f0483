import type { Subscription } from 'rxjs';

import { delayUntil } from '../../client/timer.limits.js';
import type { Delivery, DeliveryOutcome, Lease } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { Attempt, type SendResult } from './attempt.js';
import { bodyToSend } from './body-transform.js';
import { CircuitBreaker } from './circuit-breaker.js';
import type { DeliveryOptions } from './delivery.options.js';
import { DestinationSender, type SendingContext } from './destination.sender.js';
import { judgeAttempt, refuses, requestedPause } from './outcome.util.js';
import { OutcomeReporter } from './outcome.reporter.js';
import { type PausableDestination, timeWithin } from './pause.util.js';
import type { RequestLimit } from './request-limit.js';
import { lastAttemptAt } from './retry-schedule.util.js';

/**
 * Maximum time for which the rate limit holds a leased delivery, in ms. Others return to the queue, where they are seen to
 * wait: a leased delivery counts as being sent.
 */
const MAX_LIMITED = 5_000;

/** Number of deliveries leased at once for a probe: one becomes the probe, the others return to the queue. */
const PROBE_CONCURRENCY = 8;

/**
 * Leases the deliveries of one destination from the queue, attempts them, and settles them by its URLs' answers. A
 * delivery dies only of an attempt, or because its `transform` fails.
 *
 * The loop is in one of these modes:
 *
 * - unstarted: it handles the deliveries that it is given, and leases none.
 * - leasing: it leases `concurrency` deliveries at once.
 * - resting: it leases none until a timer ends, because they would return to the queue.
 * - probing: the destination is down. It leases a few at once, of which one becomes the probe.
 * - stopped: it leases none. Attempts in progress go on, and those that wait for a connection return to the queue.
 * - closed: stopped, and connections are dropped. Deliveries in flight stay leased until the queue releases them.
 *
 *     unstarted -> leasing          start
 *     leasing, probing -> resting   the circuit opens or does not admit a delivery, the receiver asks for no requests,
 *                                   the rate limit holds a delivery for long, or the queue ends the consumption
 *     resting -> leasing, probing   the timer ends while the circuit is closed, or open
 *     resting, probing -> leasing   the circuit closes, or last attempts are due, which it does not hold back
 *     any -> stopped                stop (the application ends), retire (the destination was changed or removed)
 *     stopped -> closed             close
 */
export class DestinationLoop {
  // Private, because it contains URLs, headers and keys.
  readonly #destination: PausableDestination;
  private readonly sender: DestinationSender;
  private readonly circuit: CircuitBreaker;
  private readonly reporter: OutcomeReporter;
  private readonly concurrency: number;
  /** Those of delivery, with the destination's own retry window. */
  private readonly options: DeliveryOptions;
  /** Set from the start to the stop. */
  private queue: Pick<DeliveryQueue, 'consume'> | undefined;
  private subscription: Subscription | undefined;
  /** Number of deliveries that the subscription leases at once. */
  private leased = 0;
  /** Runs while the loop rests. */
  private timer: NodeJS.Timeout | undefined;
  private inFlight = 0;
  private onIdle: (() => void) | undefined;
  private isStopped = false;
  private isClosed = false;
  /** Returns the queue's time, in ms since the epoch. */
  private readonly now = (): number => this.context.clock.now();

  /** @param limit shared with the destination's earlier loops, whose requests count too */
  constructor(
    destination: PausableDestination,
    private readonly context: SendingContext,
    limit?: RequestLimit,
  ) {
    const { options, events, telemetry } = context;
    this.#destination = destination;
    this.sender = new DestinationSender(destination, context, limit);
    this.circuit = new CircuitBreaker(options.initialRetryDelay, options.maxRetryDelay);
    this.reporter = new OutcomeReporter(destination.name, events, telemetry);
    const { concurrency = options.concurrency, retryWindow } = destination;
    this.concurrency = concurrency;
    this.options = retryWindow === undefined ? options : { ...options, retryWindow };
  }

  /** Whether deliveries are held back because the destination is down. */
  get isDown(): boolean {
    return this.circuit.isOpen;
  }

  /** Until when the receiver asked for no requests, in ms since the epoch; undefined if it does not ask now. */
  get heldUntil(): number | undefined {
    return this.circuit.isPaused(this.now()) ? this.circuit.pausedUntil : undefined;
  }

  start(queue: Pick<DeliveryQueue, 'consume'>): void {
    this.queue = queue;
    this.lease(this.concurrency);
  }

  stop(): void {
    this.isStopped = true;
    this.queue = undefined;
    this.endLeasing();
    this.sender.endWaits();
  }

  /** Stops, and declines requests that wait for a connection. */
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

  async close(): Promise<void> {
    this.isClosed = true;
    this.reporter.end();
    await this.sender.close();
  }

  /** Returns whether an attempt may begin now that there is a connection for it. */
  mayBegin(attempt: Attempt): boolean {
    const now = (attempt.startedAt = this.now());
    const isHeld = this.circuit.isOpen && attempt.probe === 0 && !attempt.isLast;
    if (this.isStopped || isHeld || attempt.lease.isWithdrawn || this.circuit.isPaused(now)) return false;
    attempt.span = this.context.telemetry?.attempt(attempt.delivery);
    return true;
  }

  /** Settles the delivery of an attempt that has ended, or advances it again if nothing was sent. */
  attempted(attempt: Attempt, sent: SendResult[] | undefined): void {
    const { lease } = attempt;
    // A connection may have become free in the async context of another destination.
    this.inScope(lease, () => {
      if (sent) void this.settle(lease, this.judge(attempt, sent));
      // While it waited for the rate limit or a connection, the destination went down or the application stopped.
      else {
        this.circuit.release(attempt.probe);
        this.advance(lease);
      }
    });
  }

  /** Leases at most this number of deliveries at once from now on. */
  private lease(concurrency: number): void {
    if (this.subscription?.closed === false && concurrency === this.leased) return;
    this.endLeasing();
    this.leased = concurrency;
    this.subscription = this.queue
      ?.consume(this.#destination.name, concurrency, this.sender.limit !== undefined)
      .subscribe({
        next: (lease) => this.handle(lease),
        error: (error) => {
          this.reporter.notRead(error);
          this.restUntil(this.now() + this.context.options.initialRetryDelay);
        },
      });
  }

  /** Leases no deliveries until a moment, unless the loop rests already. */
  private restUntil(moment: number): void {
    if (!this.queue || this.timer) return;
    this.endLeasing();
    const resume = () => this.lease(this.circuit.isOpen ? PROBE_CONCURRENCY : this.concurrency);
    this.timer = setTimeout(resume, delayUntil(moment, this.now())).unref();
  }

  private endLeasing(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.subscription?.unsubscribe();
    this.subscription = undefined;
  }

  /** Begins an attempt, or settles the delivery without one: it returns to the queue, or its `transform` sends nothing. */
  private advance(lease: Lease): void {
    const { delivery } = lease;
    if (lease.isWithdrawn) return void this.settle(lease, undefined);
    const now = this.now();
    // Transformed before the circuit is asked: a delivery that sends nothing must not become its probe.
    const body = bodyToSend(this.#destination.transform, delivery, now);
    if (!Buffer.isBuffer(body)) return void this.settle(lease, body);
    const limited = this.sender.limitOf(delivery);
    if (limited > MAX_LIMITED && !this.isStopped) {
      this.restUntil(now + limited);
      return void this.settle(lease, undefined);
    }
    const isLast = this.circuit.isOpen && now >= this.lastAttemptOf(delivery);
    const probe = this.isStopped ? undefined : this.circuit.admit(now, isLast);
    if (probe === undefined) {
      this.restUntil(this.circuit.holdUntil(now));
      return void this.settle(lease, undefined);
    }
    // Many last attempts may be due.
    if (isLast) this.lease(this.concurrency);
    this.sender.send(new Attempt(lease, body, now, probe, isLast, this));
  }

  /**
   * Returns when the last attempt of a delivery is due, in ms since the epoch. The window of one without attempts is
   * measured from when the open circuit began to hold it back.
   */
  private lastAttemptOf({ firstAttemptAt, acceptedAt }: Readonly<Delivery>): number {
    const start = firstAttemptAt ?? Math.max(acceptedAt, this.circuit.openedAt);
    return Math.floor(lastAttemptAt(start + this.extensionSince(start), this.options.retryWindow));
  }

  /** Returns the time since a moment that does not count towards the retry window, in ms: pauses, and jumps of the clock. */
  private extensionSince(moment: number): number {
    const now = this.now(); // before `jumps` are read, because it finds them
    const { pauses = [] } = this.#destination;
    const { jumps } = this.context.clock;
    return pauses.length + jumps.length === 0 ? 0 : timeWithin([...pauses, ...jumps], moment, now);
  }

  /** Returns the outcome of an attempt, and changes the circuit. */
  private judge(attempt: Attempt, sent: SendResult[]): DeliveryOutcome {
    const { delivery, startedAt, probe, span } = attempt;
    const { options } = this;
    const { telemetry } = this.context;
    attempt.isLast &&= this.circuit.isOpen; // otherwise another delivery got through meanwhile
    const extension = this.extensionSince(delivery.firstAttemptAt ?? startedAt);
    const outcome = judgeAttempt(attempt, sent, options, this.now, extension);
    (span ?? telemetry?.attempt(delivery))?.end(outcome.state); // no span yet if no URL got as far as a connection
    const isAnswered = outcome.state === 'delivered' || refuses(sent);
    const change = isAnswered ? this.circuit.succeed() : this.circuit.fail(this.now(), probe);
    if (change) this.reporter.circuitChanged(change);
    if (change === 'opened') this.holdBack();
    else if (change && !this.circuit.isPaused(this.now())) this.lease(this.concurrency);
    if (outcome.state !== 'delivered') this.pauseUntil(requestedPause(sent, outcome, this.now(), options.retryWindow));
    return outcome;
  }

  /** Makes no requests until a moment that the receiver asked for. */
  private pauseUntil(moment: number): void {
    if (!this.circuit.pause(moment, this.now()) || !this.queue) return;
    this.reporter.paused(moment);
    this.holdBack();
  }

  /** Returns to the queue what has not been sent. */
  private holdBack(): void {
    this.restUntil(this.circuit.holdUntil(this.now()));
    // Others share the rate limit, and once stopped it has no more deliveries that wait there.
    if (!this.isStopped) this.sender.endWaits();
  }

  /** @param outcome undefined returns the delivery to the queue unchanged */
  private async settle(lease: Lease, outcome: DeliveryOutcome | undefined): Promise<void> {
    try {
      if (!this.isClosed && (await lease.settle(outcome)) && outcome) this.reporter.report(lease.delivery, outcome);
      this.leave();
    } catch (error) {
      this.abandon(lease, error);
    }
  }

  /** Drops a delivery, which stays leased until the queue releases it. */
  private abandon({ delivery }: Lease, error: unknown): void {
    this.reporter.notStored(delivery, error);
    this.leave();
  }

  private leave(): void {
    if (--this.inFlight === 0) this.onIdle?.();
  }

  /** Runs a step of a delivery in the async context of all. */
  private inScope(lease: Lease, step: () => void): void {
    try {
      this.context.scope.runInAsyncScope(step);
    } catch (error) {
      this.abandon(lease, error);
    }
  }
}
