import { createAsyncScope } from '../async-scope.util.js';
import type { Endpoint } from '../event/endpoint.interface.js';
import type { EventLedger } from '../event/event.ledger.js';
import type { FlushGroup } from '../event/flush-group.js';
import type { EventSink, EventTransaction, PendingEvent } from '../event/pending-event.interface.js';
import { MAX_BATCH_BYTES } from '../message/message.limits.js';
import type { SentBatch } from '../telemetry/client-telemetry.interface.js';
import type { TraceFields } from '../telemetry/trace-context.js';
import { Batch, BatchPublisher } from './batch.publisher.js';
import type { BatchTransport } from './batch-transport.interface.js';
import type { DeliverySettings } from './delivery-settings.interface.js';
import { Fifo } from './fifo.js';

// Kept here, because a test's fake timers may replace the global one, and then no request would end.
const nextTurn = setImmediate;

/** Maximum number of requests in flight; further events wait. */
const MAX_REQUESTS_IN_FLIGHT = 16;

/** Holds events until a batch is due, and forms the batches. */
export class EventQueue implements EventSink {
  private readonly waiting = new Fifo<PendingEvent>();
  // An array, because a Set's old tables keep removed batches reachable, so they survive garbage collections.
  private inFlight: Batch[] = [];
  /** Number of requests that hold a connection. */
  private requests = 0;
  private publisher: BatchPublisher | undefined;
  /** A batch holds the events of many callers, so it is sent in an async context of its own. */
  private readonly scope = createAsyncScope('Analytics');
  private maxBytes = MAX_BATCH_BYTES;
  /** Bytes that the waiting events take up in a request body, each with the comma that follows it. */
  private waitingBytes = 0;
  /** Number of waiting events that are sent even if they do not fill a batch. */
  private due = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Set by `start`. */
  private flushInterval = 0;

  constructor(
    private readonly settings: DeliverySettings,
    private readonly ledger: EventLedger,
  ) {}

  get isStarted(): boolean {
    return this.publisher !== undefined;
  }

  get source(): string | undefined {
    return this.publisher?.transport.source;
  }

  get endpoint(): Endpoint | undefined {
    return this.publisher?.transport.endpoint;
  }

  /**
   * Starts sending by this transport. Events wait until the first call, and are then sent at once.
   *
   * @param flushInterval Replaces the setting.
   */
  start(transport: BatchTransport, flushInterval = this.settings.flushInterval): void {
    this.publisher = new BatchPublisher(this.settings, transport);
    this.maxBytes = MAX_BATCH_BYTES - transport.envelopeBytes;
    this.flushInterval = flushInterval;
    this.flush();
  }

  /** Queues an event. An event that is too large fails asynchronously. */
  add(event: PendingEvent): void {
    const { fault, bytes } = event.message;
    if (fault) return this.ledger.endLater(event, fault);
    if (event.transaction) return void this.write(event, event.transaction);
    this.waiting.push(event);
    this.waitingBytes += bytes + 1;
    if (event.group?.isClosed) this.due = this.waiting.length; // A flush already waits for it.
    if (this.isStarted) this.startTimer();
    this.pump();
  }

  flush(): void {
    this.due = this.waiting.length;
    this.pump();
  }

  /** Fails every batch in flight that holds an event of this group or an earlier one. */
  abort(group: FlushGroup, reason: Error): void {
    for (const batch of this.inFlight) {
      if (batch.events.some((event) => event.group && event.group.index <= group.index)) this.abandon(batch, reason);
    }
  }

  abortAll(reason: Error): void {
    for (const batch of this.inFlight) this.abandon(batch, reason);
    for (let event = this.take(); event; event = this.take()) this.ledger.end(event, reason);
    this.stopTimer();
  }

  private abandon(batch: Batch, reason: Error): void {
    batch.abort(reason);
    for (const event of batch.events) this.ledger.end(event, reason);
  }

  private pump(): void {
    while (this.publisher && this.requests < MAX_REQUESTS_IN_FLIGHT && this.hasBatch()) {
      void this.scope.runInAsyncScope(() => this.send(this.cut(), this.publisher!));
    }
    if (this.waiting.length === 0) this.stopTimer();
  }

  private hasBatch(): boolean {
    return this.due > 0 || this.waiting.length >= this.settings.maxEventsInBatch || this.waitingBytes > this.maxBytes;
  }

  private cut(): Batch {
    const events: PendingEvent[] = [];
    let room = this.maxBytes + 1; // The last event has no comma after it.
    while (events.length < this.settings.maxEventsInBatch) {
      const next = this.waiting.peek();
      if (!next || (room -= next.message.bytes + 1) < 0) break;
      events.push(next);
      this.take();
    }
    return new Batch(events);
  }

  private take(): PendingEvent | undefined {
    const event = this.waiting.shift();
    if (!event) return undefined;
    this.waitingBytes -= event.message.bytes + 1;
    if (this.due > 0) this.due--;
    return event;
  }

  private async send(batch: Batch, publisher: BatchPublisher): Promise<void> {
    this.requests++;
    this.inFlight.push(batch);
    const { telemetry } = this.settings;
    const send = () => publisher.send(batch);
    const reason = await (telemetry ? telemetry.send(this.toSent(batch), send) : send());
    this.inFlight = this.inFlight.filter((other) => other !== batch);
    if (!batch.aborted) {
      batch.events.forEach((event, index) => this.ledger.end(event, reason ?? batch.rejections?.get(index)));
    }
    // The connection becomes free in a later turn of the event loop; until then, `fetch` would open another one.
    nextTurn(() => {
      this.requests--;
      this.pump();
    });
  }

  /** Writes an event in its transaction. */
  private async write(event: PendingEvent, transaction: EventTransaction): Promise<void> {
    const { telemetry } = this.settings;
    const write = () =>
      transaction.write(event.message).then(
        () => undefined,
        (error: unknown) => error,
      );
    const reason = await (telemetry ? telemetry.send(this.toSent({ events: [event] }), write) : write());
    this.ledger.end(event, reason);
  }

  private toSent({ events }: Pick<Batch, 'events'>): SentBatch {
    const traces = new Map<string, TraceFields>();
    for (const { trace } of events) if (trace) traces.set(trace.traceparent, trace);
    return { source: this.source, count: events.length, traces: [...traces.values()] };
  }

  private startTimer(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
    }, this.flushInterval);
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
