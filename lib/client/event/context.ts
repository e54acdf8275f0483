import type { Message } from '../message/message.interface.js';
import { RelayError } from '../relay.error.js';

/** Severity of an entry in a context's log. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** An entry in a context's log. */
export interface LogMessage {
  level: LogLevel;
  message: string;
  time: Date;
  extras?: object | undefined;
}

// Not `instanceof`: both builds of the package may be in one process, each with its own class.
const CANCELATION = Symbol.for('nestjs-analytics-relay:context-cancelation');

/** Thrown by {@link Context.cancel}: the event is not delivered. Its code is `event_cancelled`. */
export class ContextCancelation extends RelayError {
  override readonly name = 'ContextCancelation';

  constructor(message = 'The event was cancelled by a plugin') {
    super('event_cancelled', message);
  }

  /** @internal */
  get [CANCELATION](): true {
    return true;
  }
}

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** One event, as passed to plugins, callbacks and listeners. */
export class Context {
  private json: string | undefined;
  private parsed: Message | undefined;
  private failure: { reason: unknown } | undefined;
  private cancelation: { error: unknown } | undefined;
  private readonly entries: LogMessage[] = [];

  /** @param source The event or its JSON, which is parsed when `event` is first read. */
  constructor(source: Message | string) {
    if (typeof source === 'string') this.json = source;
    else this.parsed = source;
  }

  /** The event. Changes made to it by `before` and `enrichment` plugins are delivered. */
  get event(): Message {
    if (this.parsed === undefined) {
      this.parsed = JSON.parse(this.json!) as Message;
      this.json = undefined; // The reader may change the object.
    }
    return this.parsed;
  }

  set event(event: Message) {
    this.parsed = event;
    this.json = undefined;
  }

  /** The event's `messageId`. */
  get id(): string {
    return this.event.messageId;
  }

  /** Whether another context belongs to the same event. */
  isSame(other: Context): boolean {
    return other.id === this.id;
  }

  /**
   * Changes a possibly nested property of the event, creating missing objects.
   *
   * @param path Keys joined by dots, such as `'context.device.model'`.
   * @returns The event.
   * @throws {RelayError} with the code `path_not_allowed` if the path leads to a prototype.
   */
  updateEvent(path: string, value: unknown): Message {
    const keys = path.split('.');
    if (keys.some((key) => FORBIDDEN_KEYS.has(key))) {
      throw new RelayError('path_not_allowed', `updateEvent may not change "${path}"`);
    }
    const last = keys.pop()!;
    let target = this.event as unknown as Record<string, unknown>;
    for (const key of keys) {
      if (!isObject(target[key])) target[key] = {};
      target = target[key] as Record<string, unknown>;
    }
    target[last] = value;
    return this.event;
  }

  /**
   * Cancels the event by throwing the error. Works in `before` and `enrichment` plugins: the event is not delivered,
   * and its callback receives the error.
   */
  cancel(error: Error = new ContextCancelation()): never {
    this.cancelation = { error };
    throw error;
  }

  /** @internal Whether this error, thrown by a plugin, cancels the event. */
  isCancelledBy(error: unknown): boolean {
    if (this.cancelation && this.cancelation.error === error) return true;
    return (error as Partial<ContextCancelation> | null | undefined)?.[CANCELATION] === true;
  }

  /** Adds an entry to the log of the event; nothing is printed. */
  log(level: LogLevel, message: string, extras?: object): void {
    this.entries.push({ level, message, time: new Date(), extras });
  }

  /** Returns the log of the event, oldest entry first. */
  logs(): LogMessage[] {
    return this.entries;
  }

  /** Returns why the event was not delivered, or undefined. */
  failedDelivery(): { reason: unknown } | undefined {
    return this.failure;
  }

  /** Records that the event was not delivered. */
  setFailedDelivery(failure: { reason: unknown }): void {
    this.failure = failure;
  }

  /** Returns the event as JSON. */
  serialize(): string {
    return this.json ?? JSON.stringify(this.parsed);
  }

  /** Returns the representation that `JSON.stringify` uses. */
  toJSON(): { id: string; event: Message; logs: LogMessage[] } {
    return { id: this.id, event: this.event, logs: this.entries };
  }
}
