import { errorMessage } from '../error.util.js';
import { Context, ContextCancelation, detach, isCancelled, isContext } from '../event/context.js';
import type { EventLedger } from '../event/event.ledger.js';
import type { EventSink, PendingEvent } from '../event/pending-event.interface.js';
import { isThenable } from '../event/user-code.caller.js';
import type { ContextEvent, IntegrationsOptions, MessageType } from '../message/message.interface.js';
import { isPlainObject } from '../message/message.rules.js';
import { SerializedMessage } from '../message/serialized-message.js';
import { throwFaults } from '../options.error.js';
import { RelayError } from '../relay.error.js';
import { emitWarning } from '../warning.util.js';
import type { AnalyticsClient } from './analytics-client.interface.js';
import type { BeforeSend, Plugin, PluginType } from './plugin.interface.js';
import { findPluginFaults } from './plugin.rules.js';
import { TimeLimit } from './time-limit.js';

interface Registration {
  plugin: Plugin;
  /** Fulfilled when the plugin has loaded or was dropped; rejected when it is critical and failed to load. */
  loaded: Promise<void>;
  /**
   * The promise that events wait for: like `loaded`, but rejected while loading takes longer than an event may wait.
   */
  awaited: Promise<void> | undefined;
  isLoaded: boolean;
}

/** Runs events through the plugins, and through the queue in between. */
export class PluginPipeline {
  private registrations: Registration[] = [];
  /** Events in the pipeline, with the outcome of their delivery once it is known. */
  private readonly active = new Map<PendingEvent, { reason: unknown } | undefined>();
  private readonly limit: TimeLimit;

  /** @param settings `httpRequestTimeout` limits loading a plugin and each call of a handler. */
  constructor(
    private readonly client: AnalyticsClient,
    private readonly queue: EventSink,
    private readonly ledger: EventLedger,
    private readonly settings: { httpRequestTimeout: number; beforeSend: BeforeSend | undefined },
  ) {
    this.limit = new TimeLimit(settings.httpRequestTimeout);
  }

  /** Whether events have nothing to wait for or to go through. */
  get isEmpty(): boolean {
    if (this.settings.beforeSend) return false;
    return this.registrations.every(({ plugin }) => plugin.type === 'utility' && !plugin.critical);
  }

  async register(plugins: Plugin[]): Promise<void> {
    this.refuseInvalid(plugins);
    const added = plugins.map((plugin) => this.enter(plugin));
    this.registrations = [...this.registrations, ...added];
    await Promise.all(added.map(({ loaded }) => loaded));
    if (plugins.length === 0) return;
    this.client.emit(
      'register',
      plugins.map(({ name }) => name),
    );
  }

  async deregister(names: string[]): Promise<void> {
    const removed = this.registrations.filter(({ plugin }) => names.includes(plugin.name));
    await Promise.all(removed.map(({ plugin }) => this.unload(plugin)));
    this.registrations = this.registrations.filter((registration) => !removed.includes(registration));
    this.client.emit('deregister', names);
  }

  /** Processes one event from its first plugin to its outcome. */
  async process(event: PendingEvent): Promise<void> {
    this.active.set(event, undefined);
    const reason = await this.run(event).catch((error: unknown) => error ?? new ContextCancelation());
    this.active.delete(event);
    this.ledger.settle(event, reason);
  }

  /** Settles every event in the pipeline: with the outcome of its delivery if known, otherwise with this reason. */
  abortAll(reason: Error): void {
    for (const [event, delivery] of this.active) this.ledger.settle(event, delivery ? delivery.reason : reason);
    this.limit.release();
  }

  /**
   * Resolves with the reason why the event was not delivered, or undefined if it was. Rejects if delivery was not
   * attempted.
   */
  private async run(event: PendingEvent): Promise<unknown> {
    event.context = new Context(event.message.json);
    await this.untilLoaded(event, event.context);
    event.context = await this.enrich(event.context, event);
    if (event.group) this.filter(event.context);
    const json = event.context.serialize();
    if (json !== event.message.json) event.message = new SerializedMessage(json);
    return event.group && this.deliver(event, event.context);
  }

  /** Waits for the plugins that must see every event. Rejects if a critical plugin has not loaded. */
  private async untilLoaded(event: PendingEvent, ctx: Context): Promise<void> {
    const loading = this.registrations.filter(
      ({ isLoaded, plugin: { critical, type } }) =>
        !isLoaded && (critical || type === 'before' || type === 'enrichment'),
    );
    await Promise.all(
      loading.map((registration) =>
        this.whenLoaded(registration).catch((error: unknown) => {
          if (registration.plugin.critical) throw error;
          this.reportOf(event, error, ctx);
        }),
      ),
    );
  }

  private async enrich(ctx: Context, event: PendingEvent): Promise<Context> {
    for (const stage of ['before', 'enrichment'] as const) {
      for (const { plugin } of this.ofType(stage).filter(({ isLoaded }) => isLoaded)) {
        if (!event.group) return ctx;
        try {
          const returned = await this.handle(plugin, event.type, ctx);
          if (isContext(returned)) ctx = returned;
          else if (stage === 'before' && plugin[event.type]) {
            throw new RelayError('plugin_result_invalid', `Plugin "${plugin.name}" returned no context`);
          }
        } catch (error) {
          if (stage === 'before' || isCancelled(ctx, error)) throw error;
          this.reportOf(event, error, ctx);
          if (error instanceof RelayError && error.code === 'plugin_timeout') ctx = detach(ctx);
        }
      }
    }
    return ctx;
  }

  /** Lets `beforeSend` change or cancel the event. @throws if it cancels the event, throws, or returns no event. */
  private filter(ctx: Context): void {
    if (!this.settings.beforeSend) return;
    const event: unknown = this.settings.beforeSend(ctx.event);
    if (event === null || event === undefined) {
      ctx.isFiltered = true;
      throw new ContextCancelation('beforeSend returned no event');
    }
    if (isThenable(event)) void event.then(undefined, () => undefined);
    if (!isPlainObject(event)) {
      throw new RelayError('before_send_invalid', 'beforeSend must return the event, or null to cancel it');
    }
    ctx.event = event as unknown as ContextEvent;
  }

  /** Delivers to the collection service and the destination plugins in parallel, then runs the `after` plugins. */
  private async deliver(event: PendingEvent, ctx: Context): Promise<unknown> {
    const integrations = ctx.event.integrations ?? {};
    const destinations = this.ofType('destination').filter(({ plugin }) => isEnabled(plugin, integrations));
    const [reason] = await Promise.all([
      new Promise<unknown>((resolve) => {
        event.onDelivered = (outcome) => {
          this.active.set(event, { reason: outcome });
          resolve(outcome);
        };
        this.queue.add(event);
      }),
      ...destinations.map((registration) => this.observe(registration, event, new Context(event.message.json))),
    ]);
    if (reason !== undefined) ctx.setFailedDelivery({ reason });
    await Promise.all(this.ofType('after').map((registration) => this.observe(registration, event, ctx)));
    return reason;
  }

  private async observe(registration: Registration, event: PendingEvent, ctx: Context): Promise<void> {
    if (!event.group) return;
    try {
      await this.whenLoaded(registration);
      const isDue = event.group && this.registrations.includes(registration);
      if (isDue) await this.handle(registration.plugin, event.type, ctx);
    } catch (error) {
      this.reportOf(event, error, ctx);
    }
  }

  private handle(plugin: Plugin, type: MessageType, ctx: Context): unknown {
    const returned: unknown = plugin[type]?.(ctx);
    return isThenable(returned) ? this.limit.enforce(`Plugin "${plugin.name}"`, returned) : returned;
  }

  private enter(plugin: Plugin): Registration {
    const loaded = this.load(plugin);
    const registration: Registration = { plugin, loaded, awaited: undefined, isLoaded: false };
    const settle = (isLoaded: boolean) => Object.assign(registration, { isLoaded, awaited: loaded });
    void loaded.then(
      () => settle(true),
      () => settle(false),
    );
    return registration;
  }

  /**
   * Settles when loading does. Rejects once the first event has waited too long, and for later events until loading
   * ends.
   */
  private whenLoaded(registration: Registration): Promise<void> {
    return (registration.awaited ??= this.limit.enforce(
      `Loading plugin "${registration.plugin.name}"`,
      registration.loaded,
    ));
  }

  /** Reports invalid plugins besides throwing, because the promise of `register` is often ignored. */
  private refuseInvalid(plugins: Plugin[]): void {
    try {
      throwFaults('register', plugins.flatMap(findPluginFaults));
    } catch (error) {
      this.reportUnloaded('The plugins of this call were not registered, because one is invalid', error);
      throw error;
    }
  }

  private async load(plugin: Plugin): Promise<void> {
    try {
      await Promise.resolve(); // The instance may still be under construction.
      await plugin.load(Context.system(), this.client);
    } catch (error) {
      if (plugin.critical) {
        this.report('plugin_load_failure', error);
        throw error;
      }
      this.registrations = this.registrations.filter((registration) => registration.plugin !== plugin);
      this.reportUnloaded(`Plugin "${plugin.name}" failed to load and was dropped`, error);
    }
  }

  private async unload(plugin: Plugin): Promise<void> {
    try {
      const unloaded = plugin.unload?.(Context.system(), this.client);
      if (isThenable(unloaded)) await this.limit.enforce(`Unloading plugin "${plugin.name}"`, unloaded, false);
    } catch (error) {
      this.report('plugin_failure', error);
    }
  }

  private ofType(type: PluginType): Registration[] {
    return this.registrations.filter(({ plugin }) => plugin.type === type);
  }

  /** Reports a plugin's error, unless the event already has its outcome. */
  private reportOf(event: PendingEvent, reason: unknown, ctx: Context): void {
    if (event.group) this.report('plugin_failure', reason, ctx);
  }

  private reportUnloaded(fault: string, error: unknown): void {
    this.report('plugin_load_failure', error);
    emitWarning(`${fault}: ${errorMessage(error)}`);
  }

  private report(code: string, reason: unknown, ctx?: Context): void {
    this.client.emit('error', { code, reason, ctx });
  }
}

/** Whether `integrations` lets an event through to a destination plugin. */
function isEnabled({ name, alternativeNames = [] }: Plugin, integrations: IntegrationsOptions): boolean {
  const key = [name, ...alternativeNames].find((candidate) => integrations[candidate] !== undefined);
  return (key === undefined ? integrations.All : integrations[key]) !== false;
}
