import { setTimeout as sleep } from 'node:timers/promises';

import { Subject, type Subscription } from 'rxjs';

import { createAsyncScope } from '../../client/async-scope.util.js';
import { errorMessage } from '../../client/error.util.js';
import type { Concealed } from '../../common/concealed.value.js';
import { LineLogger } from '../../common/line.logger.js';
import { FieldError } from '../../common/relay.errors.js';
import type { DispatchTelemetry } from '../../common/telemetry/telemetry.interface.js';
import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { DISABLED, PAUSED, REMOVED } from '../queue/dead-reasons.js';
import { type DeliveryCount, isOpen } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { DeliveryEvent } from './delivery-event.js';
import type { DeliveryOptions } from './delivery.options.js';
import type { DestinationOptions } from './destination.options.js';
import { DestinationLoop } from './destination.loop.js';
import type { SendingContext } from './destination.sender.js';
import { EndedDestination } from './ended-destination.js';
import { NetworkCheck } from './network-check.js';
import { OutcomeReporter } from './outcome.reporter.js';
import { isActive, type PausableDestination, sendsAlike } from './pause.util.js';
import { RequestLimit } from './request-limit.js';
import { sendTest } from './test-delivery.js';
import type { Connections, PoolFactory } from '../transport/transport.factory.js';
import { isWebhookTransport } from '../transport/webhook-transport.interface.js';

/** How long due deliveries are still leased during shutdown, in ms. */
const DRAIN_TIME = 2_000;

/** Total time limit of a shutdown, in ms; deliveries in flight are then released. */
const STOP_TIME = 5_000;

/** Maximum number of destinations whose host names are resolved at start, not at their first delivery. */
const MAX_CHECKED = 100;

/** Sends due deliveries from the queue, to each destination at its own pace and over its own connections. */
export class WebhookDispatcher {
  private readonly logger = new LineLogger('WebhookDestination');
  private readonly events = new Subject<DeliveryEvent>();
  // Private, because they contain URLs, headers and keys.
  readonly #destinations = new Map<string, PausableDestination>();
  readonly #loops = new Map<string, DestinationLoop>();
  /** Rate limits by destination, shared by its loops. */
  readonly #limits = new Map<string, RequestLimit>();
  /** Loops that were replaced or removed, and still have requests in flight. */
  readonly #leaving = new Set<DestinationLoop>();
  /** Async context of all deliveries: none runs in that of the request that accepted it or woke its destination. */
  private readonly scope = createAsyncScope('WebhookDispatcher');
  /** Set while this process delivers. */
  #createPool: PoolFactory | undefined;
  /** Destinations with deliveries that became due before the start. */
  private readonly due = new Set<string>();
  private dueSubscription: Subscription | undefined;
  /** Names of removed destinations: other processes may accept messages for them until they learn of the removal. */
  private readonly removedNames = new Set<string>();
  /** Removed and disabled destinations whose deliveries are being ended. */
  private readonly ended = new Map<string, EndedDestination>();
  #check: NetworkCheck | undefined;
  private leaveBudget: () => void = () => undefined;

  /** Emits the outcome of each attempt. */
  readonly events$ = this.events.asObservable();

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly options: Concealed<{ delivery: DeliveryOptions }>,
    private readonly telemetry?: DispatchTelemetry,
  ) {}

  /** Names of the destinations that this process serves: enabled ones, including paused ones, and removed ones. */
  get servedNames(): Set<string> {
    const enabled = [...this.#destinations.values()].filter((destination) => destination.enabled);
    return new Set([...enabled.map(({ name }) => name), ...this.removedNames]);
  }

  /** Names of the destinations that this process has found to be down. */
  get downNames(): string[] {
    return this.circuits.filter(({ isOpen }) => isOpen).map(({ destination }) => destination);
  }

  /** Circuit of each destination with a loop; open while the destination counts as down. */
  get circuits(): { destination: string; isOpen: boolean }[] {
    return Array.from(this.#loops, ([destination, { isDown }]) => ({ destination, isOpen: isDown }));
  }

  /** Returns until when the receiver of a destination asked this process for no requests (`Retry-After`). */
  heldUntil(name: string): number | undefined {
    return this.#loops.get(name)?.heldUntil;
  }

  /** Whether deliveries are sent to a destination: it is enabled, and not paused. */
  isActive(name: string): boolean {
    const destination = this.#destinations.get(name);
    return destination !== undefined && isActive(destination);
  }

  /** Adds a destination, or replaces the one with the same name. */
  put(destination: PausableDestination): void {
    const { name } = destination;
    this.ended.get(name)?.stop();
    this.ended.delete(name);
    this.removedNames.delete(name);
    const present = this.#destinations.get(name);
    this.#destinations.set(name, destination);
    if (this.#loops.has(name) && sendsAlike(present!, destination)) return;
    if (isActive(destination)) this.#check?.add([destination], true);
    this.open(destination);
  }

  /** Stops sending to a destination, and ends its deliveries once this process delivers. */
  remove(name: string): void {
    this.ended.get(name)?.stop();
    this.ended.delete(name);
    this.#destinations.delete(name);
    this.removedNames.add(name);
    this.#limits.delete(name);
    this.leave(name);
    this.end(name);
  }

  /** Starts recording which destinations have due deliveries. */
  follow(): void {
    this.dueSubscription = this.queue.due$.subscribe((name) => {
      if (this.#createPool) this.wake(name);
      else this.due.add(name);
    });
  }

  /**
   * Starts delivering.
   *
   * @param counts what the queue holds; undefined if unknown
   */
  start({ createPool, policy, proxyFor, joinBudget }: Connections, counts?: DeliveryCount[]): void {
    this.leaveBudget = joinBudget();
    this.#createPool = createPool;
    // A custom transport is responsible for its connections.
    if (!isWebhookTransport(this.options.reveal().delivery.transport)) {
      this.#check = new NetworkCheck(policy, this.queue, proxyFor);
    }
    const all = [...this.#destinations.keys()];
    const named = (states: DeliveryCount[]) => new Set(states.map(({ destination }) => destination));
    const checked = counts && all.length > MAX_CHECKED ? [...named(counts)] : all;
    this.#check?.add(checked.flatMap((name) => this.#destinations.get(name) ?? []).filter(isActive), true);
    // From now on, the queue announces what is due: an idle destination costs nothing.
    const due = counts ? [...named(counts.filter(isOpen)), ...this.due] : [...all, ...this.removedNames];
    for (const name of due) this.wake(name);
    this.due.clear();
  }

  /**
   * Sends a message to a destination immediately, once, outside the queue.
   *
   * @throws {RelayError} if this process does not deliver
   */
  async test(destination: DestinationOptions, body: Buffer, messageId: string): Promise<AttemptRecord> {
    if (!this.#createPool)
      throw new FieldError('not_delivering', 'this process does not deliver, so it cannot test a destination', 'mode');
    return sendTest(destination, body, messageId, this.contextOf(this.#createPool));
  }

  /** Sends due deliveries for a limited time; the rest stays in the queue. */
  async stop(): Promise<void> {
    this.#check?.stop();
    this.#createPool = undefined;
    this.dueSubscription?.unsubscribe();
    for (const ended of this.ended.values()) ended.stop();
    const abort = new AbortController();
    const after = (delay: number) => sleep(delay, undefined, { signal: abort.signal }).catch(() => undefined);
    const end = after(STOP_TIME);
    await Promise.race([this.queue.idle(), after(DRAIN_TIME)]);
    for (const loop of this.#loops.values()) loop.stop();
    const all = [...this.#loops.values(), ...this.#leaving];
    const ended = async (loop: DestinationLoop): Promise<void> => {
      await loop.idle();
      await loop.requestsEnded();
    };
    await Promise.race([Promise.all(all.map(ended)), end]);
    abort.abort();
    await Promise.all(all.map((loop) => loop.close()));
    this.leaveBudget();
    this.events.complete();
  }

  /** Starts delivering to a destination if necessary, or ends new deliveries of a removed or disabled one. */
  private wake(name: string): void {
    const destination = this.#destinations.get(name);
    if (!destination || destination.disabled) this.end(name);
    else if (!this.#loops.has(name)) this.open(destination);
  }

  private open(destination: PausableDestination): void {
    this.leave(destination.name);
    if (destination.disabled) return this.end(destination.name);
    const createPool = this.#createPool;
    if (!createPool || !isActive(destination)) return;
    this.scope.runInAsyncScope(() => {
      const loop = new DestinationLoop(destination, this.contextOf(createPool), this.limitOf(destination));
      this.#loops.set(destination.name, loop);
      loop.start(this.queue);
      this.#check?.add([destination], false);
    });
  }

  private contextOf(createPool: PoolFactory): SendingContext {
    const { events, telemetry, scope } = this;
    const { clock } = this.queue;
    return { options: this.options.reveal().delivery, createPool, events, clock, telemetry, scope };
  }

  /** Returns the rate limit of a destination, which counts the requests before a change too. */
  private limitOf({ name, rateLimit }: PausableDestination): RequestLimit | undefined {
    const present = this.#limits.get(name);
    if (!rateLimit) this.#limits.delete(name);
    else if (present) present.change(rateLimit);
    else this.#limits.set(name, new RequestLimit(rateLimit));
    return this.#limits.get(name);
  }

  private leave(name: string): void {
    const loop = this.#loops.get(name);
    if (!loop) return;
    this.#loops.delete(name);
    this.#leaving.add(loop);
    loop.retire();
    const close = async () => {
      await loop.idle();
      this.ended.get(name)?.expedite(); // an attempt that failed meanwhile left its delivery waiting
      await loop.requestsEnded();
      await loop.close();
      this.#leaving.delete(loop);
    };
    close().catch((error) =>
      this.logger.warn(`Connections to ${name} could not be closed: ${errorMessage(error)}`, { destination: name }),
    );
  }

  /** Ends the deliveries of a removed or disabled destination, once this process delivers. */
  private end(name: string): void {
    // A name that is neither is possibly that of a destination that only another process knows yet.
    const { disabled } = this.#destinations.get(name) ?? {};
    if (!this.#createPool || !(disabled || this.removedNames.has(name)) || this.ended.has(name)) return;
    const reason = !disabled ? REMOVED : disabled.reason === 'paused' ? PAUSED : DISABLED;
    const reporter = new OutcomeReporter(name, this.events, this.telemetry);
    const ended = new EndedDestination(name, reason, this.queue, reporter);
    this.ended.set(name, ended);
    this.scope.runInAsyncScope(() => {
      ended.start();
      ended.expedite();
    });
  }
}
