import { randomUUID } from 'node:crypto';

import type { ContextEvent } from '../message/message.interface.js';
import { toJson } from '../message/message-json.util.js';
import { parseTimestamp } from '../message/message.rules.js';
import { RelayError } from '../relay.error.js';
import { ContextLogger, type LogLevel, type LogMessage } from './context-logger.js';

// Not `instanceof` and a `WeakSet`: both builds of the package may be in one process, each with its own.
const CANCELATION = Symbol.for('nestjs-analytics-relay:context-cancelation');

/** Why an event is not delivered that a plugin or `beforeSend` cancelled. Its code is `event_cancelled`. */
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

/** An event to make a context of, for example in a test of a plugin. */
type NewEvent = Partial<ContextEvent> & Pick<ContextEvent, 'type'>;

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Makes the timestamp of an event a Date, as plugins expect it. A text that no Date writes stays as it is. */
function withDate(event: ContextEvent): ContextEvent {
  const date = parseTimestamp(event.timestamp);
  if (date?.toISOString() === event.timestamp) event.timestamp = date;
  return event;
}

/** Takes the metrics of plugins. */
export interface ContextStats {
  increment(metric: string, by?: number, tags?: string[]): void;
  gauge(metric: string, value: number, tags?: string[]): void;
  flush(): void;
}

const ignore = (): void => undefined;

/** Ignores all metrics. */
const NO_STATS: ContextStats = { increment: ignore, gauge: ignore, flush: ignore };

/** One event, as passed to plugins, callbacks and listeners. */
export class Context {
  private json: string | undefined;
  private parsed: ContextEvent | undefined;
  private failure: { reason: unknown } | undefined;
  private cancelation: { error: unknown } | undefined;
  /** The log of the event. */
  readonly logger = new ContextLogger();
  /** Ignores all metrics. For plugins written for other clients. */
  readonly stats: ContextStats = NO_STATS;
  /** Number of times that the event went to the plugins; retries of the delivery do not count. */
  readonly attempts = 1;

  /** @param source The event, whose missing fields get defaults, or its JSON, which is parsed when it is first read. */
  constructor(source: NewEvent | string) {
    if (typeof source === 'string') this.json = source;
    else this.parsed = withDate({ messageId: randomUUID(), timestamp: new Date(), ...source });
  }

  /** Returns the context for loading and unloading plugins, which belongs to no event of the application. */
  static system(): Context {
    return new Context({ type: 'track', event: 'system' });
  }

  /** The event. Changes made to it by `before` and `enrichment` plugins are delivered. */
  get event(): ContextEvent {
    if (this.parsed === undefined) {
      this.parsed = withDate(JSON.parse(this.json!) as ContextEvent);
      this.json = undefined; // The reader may change the object.
    }
    return this.parsed;
  }

  set event(event: ContextEvent) {
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
   * Changes a possibly nested property of the event, creating missing objects, and an array where the next key is `0`.
   * An integration that is switched off (`false`) stays so.
   *
   * @param path Keys joined by dots, such as `'context.device.model'`.
   * @returns The event.
   * @throws {RelayError} with the code `path_not_allowed` if the path leads to a prototype.
   */
  updateEvent(path: string, value: unknown): ContextEvent {
    const keys = path.split('.');
    if (keys.some((key) => FORBIDDEN_KEYS.has(key))) {
      throw new RelayError('path_not_allowed', `updateEvent may not change "${path}"`);
    }
    const { event } = this;
    if (keys[0] === 'integrations' && event.integrations?.[keys[1]!] === false) return event;
    const last = keys.pop()!;
    let target = event as unknown as Record<string, unknown>;
    keys.forEach((key, index) => {
      if (!isObject(target[key])) target[key] = (keys[index + 1] ?? last) === '0' ? [] : {};
      target = target[key] as Record<string, unknown>;
    });
    target[last] = value;
    return event;
  }

  /**
   * Cancels the event by throwing the error. Works in `before` and `enrichment` plugins: the event is not delivered,
   * and its callback receives the error.
   */
  cancel(error: Error = new ContextCancelation()): never {
    this.cancelation = { error };
    throw error;
  }

  /** @internal Whether `beforeSend` cancelled the event, which is not reported as an error. */
  isFiltered = false;

  /** @internal Whether this error, thrown by a plugin, cancels the event. */
  isCancelledBy(error: unknown): boolean {
    if (this.cancelation && this.cancelation.error === error) return true;
    return (error as Partial<ContextCancelation> | null | undefined)?.[CANCELATION] === true;
  }

  /** Adds an entry to the log of the event; nothing is printed. */
  log(level: LogLevel, message: string, extras?: object): void {
    this.logger.log(level, message, extras);
  }

  /** Returns the log of the event, oldest entry first. */
  logs(): LogMessage[] {
    return this.logger.logs;
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
    return this.json ?? toJson(this.event);
  }

  /** Returns the representation that `JSON.stringify` uses. */
  toJSON(): { id: string; event: ContextEvent; logs: LogMessage[] } {
    return { id: this.id, event: this.event, logs: this.logs() };
  }
}

// A plugin may return a context of another library, which has no such method.
export function isCancelled(ctx: Partial<Context> | undefined, error: unknown): boolean {
  return ctx?.isCancelledBy?.(error) ?? false;
}

// Checked by shape, because a context may come from the package's other build.
export function isContext(value: unknown): value is Context {
  return typeof (value as Context | undefined)?.serialize === 'function';
}

/** Copies the event in its current state, so that a plugin still running cannot change it. */
export function detach(ctx: Context): Context {
  const detached = new Context(ctx.serialize());
  detached.logs().push(...ctx.logs());
  return detached;
}
