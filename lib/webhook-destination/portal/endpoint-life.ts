import { isDeepStrictEqual } from 'node:util';

import { type Observable, Subject, type Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import type { RelayError } from '../../client/relay.error.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { DeliveryEvent } from '../dispatch/delivery-event.js';
import { type PausableDestination, timeWithin } from '../dispatch/pause.util.js';
import type { UrlResult } from '../queue/attempt-record.interface.js';
import type { SteadyClock } from '../queue/steady-clock.js';
import { type EntryDocuments, shownUrlsOf } from '../registry/entry.document.js';
import type { Registry } from '../registry/registry.js';
import type { DisablingReason, EndpointChange, OperationalEvent } from './operational-event.js';

/** How long an endpoint fails before the registry has it, in ms: one that fails now and then is written once a minute. */
const NOTICED_AFTER = 60_000;

type Document = EntryDocuments['destination'];

/** An endpoint that fails. */
interface Failing {
  /** Time of the first failure that this process has seen, or that the registry has, in ms since the epoch. */
  since: number;
  /** Whether the registry has it. */
  isStored: boolean;
  /** Whether it has succeeded, and this is being recorded. */
  isOver: boolean;
  /** Runs until it is stored. */
  timer?: NodeJS.Timeout;
}

/** What a change makes of a document, and how it is told. */
interface Change {
  next: Document;
  event: EndpointChange;
}

/**
 * The life of endpoints, which are destinations of the stored registry that belong to a tenant:
 *
 *     working -> failing    an attempt failed, and none succeeded in this process for a minute after it
 *     failing -> working    an attempt succeeds, in any process
 *     failing -> disabled   an attempt fails, `disableAfter` or longer after the first one; pauses do not count
 *     any other -> disabled the receiver answers 410, or asks for it; or its tenant pauses it, which emits no event
 *     disabled -> working   `DestinationManager.enable`, which also ends a pause by the tenant
 *
 * The registry's document has the state. Of several processes, the one whose write the store takes emits the event. A
 * success costs one look-up here, and a destination that is not an endpoint nothing else.
 */
export class EndpointLife {
  private readonly logger = new LimitedLogger('WebhookDestination');
  private readonly events = new Subject<OperationalEvent>();
  /** Emits what this process has noticed; completes when the application closes. */
  readonly events$ = this.events.asObservable();
  private readonly failing = new Map<string, Failing>();
  /** Names of endpoints that are being disabled. */
  private readonly disabling = new Set<string>();
  /** Changes of the registry are made one after the other, because thousands of endpoints may fail together. */
  private changes: Promise<unknown> = Promise.resolve();
  private readonly subscription: Subscription;

  /** @param clock the queue's, which processes on one store share */
  constructor(
    private readonly registry: Pick<Registry, 'find' | 'change' | 'tenants'>,
    private readonly clock: Pick<SteadyClock, 'now' | 'jumps'>,
    private readonly disableAfter: number,
    outcomes$: Observable<DeliveryEvent>,
  ) {
    this.subscription = outcomes$.subscribe((outcome) => this.take(outcome));
  }

  /** Takes the state of a stored destination, which another process may have changed. */
  put({ name, failingSince, disabled }: PausableDestination): void {
    const isFailing = failingSince !== undefined && !disabled;
    if (isFailing || disabled || this.failing.get(name)?.isStored) this.forget(name);
    if (isFailing) this.failing.set(name, { since: failingSince, isStored: true, isOver: false });
  }

  /** Forgets that a destination fails. */
  forget(name: string): void {
    clearTimeout(this.failing.get(name)?.timer);
    this.failing.delete(name);
  }

  /** Called after the last attempt; resolves once no change is in progress. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    for (const name of [...this.failing.keys()]) this.forget(name);
    await this.changes;
    this.events.complete();
    this.logger.end();
  }

  private take(outcome: DeliveryEvent): void {
    const { destination, results } = outcome;
    if (results.length === 0) return; // no attempt was made
    if (outcome.type === 'delivered') this.succeed(destination);
    else this.fail(outcome);
    const reason = reasonIn(results);
    if (reason && this.find(destination)) void this.disable(destination, reason, results);
  }

  private succeed(name: string): void {
    const failing = this.failing.get(name);
    if (!failing || failing.isOver) return;
    failing.isOver = true;
    if (failing.isStored) void this.recover(name, failing);
    else this.forget(name);
  }

  private fail(outcome: Exclude<DeliveryEvent, { type: 'delivered' }>): void {
    const { destination } = outcome;
    const endpoint = this.find(destination);
    if (!endpoint) return;
    const { document, tenant } = endpoint;
    if (outcome.type === 'dead') {
      const { source, messageId, attempt: attempts, reason } = outcome;
      const event = { type: 'delivery.exhausted', source, messageId, attempts, reason } as const;
      this.events.next({ ...event, tenant, destination, at: this.clock.now() });
    }
    if (outcome.results.every(({ asked }) => asked === 'abort-message')) return; // it works, and refuses one message
    if (this.hasFailedForLong(document)) void this.disable(destination, 'failing');
    else if (!document.disabled && !this.failing.has(destination)) this.begin(destination);
  }

  private begin(name: string): void {
    const failing: Failing = { since: this.clock.now(), isStored: false, isOver: false };
    this.failing.set(name, failing);
    this.waitToStore(name, failing);
  }

  private waitToStore(name: string, failing: Failing): void {
    const delay = Math.min(NOTICED_AFTER, this.disableAfter);
    failing.timer = setTimeout(() => void this.store(name, failing), delay).unref();
  }

  private async store(name: string, failing: Failing): Promise<void> {
    const { since } = failing;
    const isChanged = await this.change(name, (document) => {
      if (failing.isOver || document.failingSince !== undefined || document.disabled) return undefined;
      return { next: { ...document, failingSince: since }, event: { type: 'endpoint.failing', failingSince: since } };
    });
    // It may have succeeded while it was being written.
    if (failing.isOver) await this.recover(name, failing);
    else if (!isChanged && this.failing.get(name) === failing) this.waitToStore(name, failing);
  }

  private async recover(name: string, failing: Failing): Promise<void> {
    const isChanged = await this.change(name, ({ failingSince, ...document }) => {
      if (failingSince === undefined || document.disabled) return undefined;
      return { next: document, event: { type: 'endpoint.recovered', failingSince } };
    });
    if (!isChanged) failing.isOver = false; // the next success tries again
  }

  /** @param results those of the attempt whose receivers asked for it */
  private async disable(name: string, reason: DisablingReason, results?: UrlResult[]): Promise<void> {
    if (this.disabling.has(name)) return;
    this.disabling.add(name);
    await this.change(name, (document) => {
      const { disabled, failingSince } = document;
      // Another process may have recorded a success, or another URL.
      const isStill = results ? areAll(results, document.options) : this.hasFailedForLong(document);
      if (disabled || !isStill) return undefined;
      const next = { ...document, disabled: { since: this.clock.now(), reason } };
      return { next, event: { type: 'endpoint.disabled', reason, failingSince } };
    });
    this.disabling.delete(name);
  }

  /** Changes the document of an endpoint, and emits the event of its change. Resolves with false if it cannot be stored. */
  private change(name: string, toChange: (document: Document) => Change | undefined): Promise<boolean> {
    const changed = this.changes.then(() => this.write(name, toChange));
    this.changes = changed;
    return changed;
  }

  private async write(name: string, toChange: (document: Document) => Change | undefined): Promise<boolean> {
    let change: Change | undefined;
    try {
      await this.registry.change('destination', name, (entry) => {
        change = entry?.document && toChange(entry.document);
        return change?.next;
      });
      if (change) this.emit(name, change);
      this.logger.succeeded();
      return true;
    } catch (error) {
      if ((error as Partial<RelayError>).code === 'closed') return false;
      const line = `The state of endpoint ${name} cannot be stored, trying again: ${errorMessage(error)}`;
      this.logger.failed(line, { destination: name });
      return false;
    }
  }

  private emit(destination: string, { next, event }: Change): void {
    const tenant = this.registry.tenants.of(next.options);
    if (tenant === undefined) return;
    if (event.type === 'endpoint.disabled') {
      const line = `Endpoint ${destination} is disabled (${event.reason}): its deliveries become dead until it is enabled`;
      this.logger.limited('warn', line, { destination });
    }
    this.events.next({ ...event, tenant, destination, at: this.clock.now() });
  }

  /** Returns the document and the tenant of an endpoint; undefined for other destinations. */
  private find(name: string): { document: Document; tenant: string } | undefined {
    const { origin, live: document } = this.registry.find('destination', name) ?? {};
    const tenant = document && origin === 'store' ? this.registry.tenants.of(document.options) : undefined;
    return tenant === undefined ? undefined : { document: document!, tenant };
  }

  /** Whether the next failure of an endpoint disables it. Neither pauses nor jumps of the clock count. */
  private hasFailedForLong({ failingSince, disabled, pauses = [] }: Document): boolean {
    if (failingSince === undefined || disabled) return false;
    const now = this.clock.now(); // before `jumps` are read, because it finds them
    const uncounted = timeWithin([...pauses, ...this.clock.jumps], failingSince, now);
    return now - failingSince - uncounted >= this.disableAfter;
  }
}

/**
 * Whether an attempt was made at all URLs that an endpoint has. A retry leaves out those that failed permanently, some of
 * which may take other messages; and a late answer is from an earlier URL.
 */
function areAll(results: UrlResult[], options: Document['options']): boolean {
  const attempted = results.map(({ url }) => url).sort();
  return isDeepStrictEqual(attempted, shownUrlsOf(options).sort());
}

/** Returns why an attempt disables its endpoint, which may have several URLs; undefined if it does not. */
function reasonIn(results: UrlResult[]): Exclude<DisablingReason, 'failing'> | undefined {
  if (results.every(({ status }) => status === 410)) return 'gone';
  return results.every(({ asked }) => asked === 'disable') ? 'asked' : undefined;
}
