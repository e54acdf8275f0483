import { setImmediate } from 'node:timers/promises';

import { Subject } from 'rxjs';

import { activeTraceText, toPostedTrace } from '../../client/telemetry/trace-context.js';
import { ValidationError } from '../../client/message/validation.error.js';
import { PartlyAcceptedError } from '../../common/relay.errors.js';
import type { RelayMetrics } from '../observe/relay-metrics.js';
import { NONE } from '../queue/delivery.factory.js';
import type { NewDelivery } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { AcceptedMessage, findPostedFault, type Recording } from './accepted-message.js';
import { MAX_MESSAGES } from './batch.parser.js';
import type { Acceptance, AcceptResult, RefusedMessage, RejectedMessage } from './ingest.result.js';
import type { PostedMessage } from './posted-message.interface.js';
import type { Sender } from './sender.js';
import { StoringLimit } from './storing.limit.js';

/** Number of messages that are checked and routed together. */
const CHECKED = 256;

/** Deliveries and bytes from which a portion is full: the event loop serves others before the next one. */
const MAX_DELIVERIES = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Size of a delivery besides its body in memory, in bytes, roughly. */
const OVERHEAD = 512;

/** Deliveries that are stored together, all or none. */
class Portion {
  readonly deliveries: NewDelivery[] = [];
  /** Size in memory: a store may copy the body for each destination. */
  bytes = 0;

  get isFull(): boolean {
    return this.deliveries.length >= MAX_DELIVERIES || this.bytes >= MAX_BYTES;
  }

  add(delivery: NewDelivery): void {
    this.deliveries.push(delivery);
    this.bytes += delivery.body.length + OVERHEAD;
  }
}

/** Messages of a request that are handled before the event loop serves others. */
class Step {
  readonly portion = new Portion();
  messages: AcceptedMessage[] = [];
  readonly rejected: RejectedMessage[] = [];
  readonly refused: RefusedMessage[] = [];
}

/** What is known of posted messages besides their source. */
export interface PostingFacts {
  /** When the sender posted the messages, by its own clock. */
  sentAt?: unknown;
  /** Given if they were recorded in this process. */
  recording?: Recording;
  sender?: Sender | undefined;
  /** When they were received, in ms since the epoch. Default: now. */
  receivedAt?: number;
}

/** Finds the repeated messages of a request, whose deliveries may be in several portions. */
class RepeatedMessages {
  /** Bodies of messages that are stored for a destination. */
  private readonly stored = new Set<Buffer>();
  /** Destinations that skipped a message, by its body. */
  private readonly skipped = new Map<Buffer, string[]>();

  /**
   * Returns what became of the messages of a step.
   *
   * @param repeated deliveries of the step that the queue skipped
   */
  of({ portion, messages }: Step, repeated: NewDelivery[]) {
    const found = { messages, duplicates: [] as AcceptedMessage[], skipped: new Map<AcceptedMessage, string[]>() };
    // A portion that is not full has the last deliveries of its messages.
    if (repeated.length === 0 && this.skipped.size === 0 && !portion.isFull) return found;
    const known = new Set(repeated);
    for (const delivery of portion.deliveries) {
      const { body, destination } = delivery;
      if (!known.has(delivery)) this.stored.add(body);
      else if (!this.skipped.get(body)?.push(destination)) this.skipped.set(body, [destination]);
    }
    found.messages = [];
    for (const message of messages) {
      const names = message.body && this.skipped.get(message.body);
      const isStored = message.body !== undefined && this.stored.delete(message.body);
      if (names) {
        found.skipped.set(message, names);
        this.skipped.delete(message.body!);
      }
      (names && !isStored ? found.duplicates : found.messages).push(message);
    }
    return found;
  }
}

/** Checks the messages of a known source, routes them, and adds them to the queue. */
export class MessageAcceptor {
  /** Emits accepted messages; costs nothing without subscribers. */
  readonly accepted$ = new Subject<Acceptance>();
  private readonly limit = new StoringLimit();

  constructor(
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
    private readonly metrics?: RelayMetrics,
  ) {}

  /**
   * Resolves once the valid messages are stored durably in the queue; the result names the others. Many deliveries are
   * stored in portions. Rejects if the queue cannot store them.
   *
   * @throws {PartlyAcceptedError} if portions are stored and another one cannot be; otherwise no message is accepted
   */
  async accept(source: string, posted: PostedMessage[], facts: PostingFacts = {}): Promise<AcceptResult> {
    const rejected: RejectedMessage[] = [];
    const repeats = new RepeatedMessages();
    let accepted = 0;
    let portions = 0;
    try {
      for (const step of this.steps(source, posted, facts)) {
        if (portions > 0) await setImmediate(); // others have their turn
        const repeated = await this.store(step.portion, { isBegun: portions > 0 });
        portions++;
        accepted += step.messages.length;
        for (const message of step.rejected) rejected.push(message);
        this.count(source, step, repeats, repeated, facts);
      }
    } catch (error) {
      this.metrics?.reject('queue_unavailable');
      if (portions === 0) throw error;
      throw new PartlyAcceptedError(accepted, posted.length, error);
    }
    return { accepted, rejected };
  }

  /**
   * Stores messages in a transaction of the application, all or none; resolves once they are written.
   *
   * @param transaction as for `DeliveryQueue.join`
   * @throws {TransactionError} as there
   * @throws {ValidationError} for the first message that breaks a rule; nothing is written then
   */
  async acceptIn(
    transaction: unknown,
    source: string,
    posted: PostedMessage[],
    facts: PostingFacts = {},
  ): Promise<AcceptResult> {
    const write = this.queue.join(transaction);
    const steps: Step[] = [];
    for (const step of this.steps(source, posted, facts)) {
      const [refused] = step.rejected;
      if (refused) {
        const subject = posted.length > 1 ? `messages[${refused.index}]: ` : '';
        throw new ValidationError({ ...refused, message: subject + refused.message });
      }
      steps.push(step);
      if (step.portion.isFull) await setImmediate(); // others have their turn
    }
    const repeats = new RepeatedMessages();
    for (const [index, step] of steps.entries()) {
      let ended: Promise<boolean> | undefined;
      const add = async () => {
        const written = await write(step.portion.deliveries);
        ({ ended } = written);
        return written.repeated;
      };
      const repeated = await this.store(step.portion, { isBegun: index > 0, add });
      void ended?.then((isCommitted) => isCommitted && this.count(source, step, repeats, repeated, facts));
    }
    return { accepted: posted.length, rejected: [] };
  }

  /**
   * Adds deliveries to the queue in portions, even above its size limit. Resolves with their number once all are stored
   * durably.
   */
  async storeAll(deliveries: Iterable<NewDelivery>): Promise<number> {
    const options = { isBegun: true, beyondLimit: true };
    let stored = 0;
    let portion = new Portion();
    for (const delivery of deliveries) {
      portion.add(delivery);
      stored++;
      if (!portion.isFull) continue;
      await this.store(portion, options);
      portion = new Portion();
    }
    await this.store(portion, options);
    return stored;
  }

  /**
   * Adds a portion to the queue, once there is room in memory. Resolves when it is stored durably, with the deliveries
   * that the queue skipped.
   *
   * @param isBegun whether a portion of the same request is stored already
   * @param beyondLimit as in `DeliveryQueue.add`
   * @param add adds the portion
   */
  private async store(
    { deliveries, bytes }: Portion,
    { isBegun = false, beyondLimit = false, add = () => this.queue.add(deliveries, beyondLimit) },
  ): Promise<NewDelivery[]> {
    if (deliveries.length === 0) return NONE;
    const turn = this.limit.take(bytes, isBegun);
    if (turn) await turn;
    try {
      return await (this.metrics ? this.metrics.enqueue(deliveries, add) : add());
    } finally {
      this.limit.release(bytes);
    }
  }

  /** Counts what became of a step, and emits it. */
  private count(
    source: string,
    step: Step,
    repeats: RepeatedMessages,
    repeated: NewDelivery[],
    { sender, sentAt }: PostingFacts,
  ): void {
    const { messages, duplicates, skipped } = repeats.of(step, repeated);
    this.metrics?.repeat(duplicates.length);
    if (!this.accepted$.observed) return;
    const known = new Set(repeated);
    const { deliveries: all } = step.portion;
    this.accepted$.next({
      source,
      messages,
      duplicates,
      rejected: step.rejected,
      refused: step.refused,
      sender,
      sentAt,
      deliveries: known.size === 0 ? all : all.filter((delivery) => !known.has(delivery)),
      repeated,
      destinationsOf: (message) => {
        const repeated = skipped.get(message) ?? [];
        const destinations = this.router.destinationsOf(source, message);
        return { destinations: destinations.filter((name) => !repeated.includes(name)), repeated };
      },
    });
  }

  /** Checks and routes the messages, as far as the steps are iterated. The last step may be empty. */
  private *steps(source: string, posted: PostedMessage[], facts: PostingFacts): Generator<Step, void> {
    const { sentAt, recording, receivedAt = Date.now() } = facts;
    const acceptedAt = this.queue.now();
    const active = activeTraceText(); // for messages of other SDKs: the trace of their request
    const trace = active && !recording ? toPostedTrace(active) : active;
    let step = new Step();
    for (let start = 0; start < posted.length; start += CHECKED) {
      // Apart from the generator, which costs single events most: bench/journal.md, "Beside the version before portions".
      const messages = this.check(posted, start, step, receivedAt, sentAt, recording);
      for (const delivery of this.router.route(source, messages, acceptedAt, trace)) {
        step.portion.add(delivery);
        if (!step.portion.isFull) continue;
        yield step;
        step = new Step();
      }
      step.messages = step.messages.length === 0 ? messages : step.messages.concat(messages);
      if (step.messages.length + step.rejected.length < MAX_MESSAGES) continue;
      yield step;
      step = new Step();
    }
    yield step;
  }

  /** Returns the valid ones of `CHECKED` messages, and adds the others to `rejected` and `refused`. */
  private check(
    posted: PostedMessage[],
    start: number,
    { rejected, refused }: Step,
    receivedAt: number,
    sentAt: unknown,
    recording: Recording | undefined,
  ): AcceptedMessage[] {
    const messages: AcceptedMessage[] = [];
    const end = Math.min(start + CHECKED, posted.length);
    for (let index = start; index < end; index++) {
      const fault = findPostedFault(posted[index]!);
      if (fault) {
        rejected.push({ index, ...fault });
        refused.push({ posted: posted[index]!, fault });
        this.metrics?.reject(fault.code);
      } else messages.push(new AcceptedMessage(posted[index]!, receivedAt, sentAt, recording));
    }
    return messages;
  }
}
