import type { Context } from '../event/context.js';
import type { MessageType } from '../message/message.interface.js';
import type { AnalyticsClient } from './analytics-client.interface.js';

/** When a plugin runs; see {@link Plugin.type}. */
export type PluginType = 'before' | 'enrichment' | 'destination' | 'after' | 'utility';

/** Handles one kind of event: returns the context it was given, or a promise of it. */
export type PluginHandler = (ctx: Context) => Context | Promise<Context>;

/**
 * Changes or observes events before and after their delivery, with a handler for each kind of message that it is about.
 *
 * @see docs/specification.md, "Plugins"
 */
export interface Plugin extends Partial<Record<MessageType, PluginHandler | undefined>> {
  /** Names the plugin for `deregister`; of a destination, also its key in `integrations`. */
  name: string;
  /** Further keys in `integrations` that concern a destination. */
  alternativeNames?: string[] | undefined;
  /** Version of the plugin, for information only. */
  version?: string | undefined;
  /**
   * - `before`: first, in order of registration. An error fails the event; its callback receives it.
   * - `enrichment`: next, in order of registration; changes the event. An error is reported, and the event goes on.
   * - `destination`: in parallel with the delivery, each with its own copy of the event. An error is reported.
   * - `after`: once the event was delivered or has failed, before its callback. An error is reported.
   * - `utility`: only loaded; receives no events.
   *
   * A handler that takes longer than `httpRequestTimeout` fails.
   */
  type: PluginType;
  /**
   * Nothing is delivered until a critical plugin has loaded. If it fails to, `register` rejects, and events fail
   * with its error until it is deregistered. Any other plugin that fails to load is dropped, with a warning.
   *
   * While loading takes longer than `httpRequestTimeout`, events fail too. They go on without any other plugin,
   * and each is reported as `plugin_failure`.
   *
   * @default false
   */
  critical?: boolean | undefined;
  /** Whether the plugin has loaded. */
  isLoaded: () => boolean;
  /** Prepares the plugin; called once, when it is registered. Events wait for it, at most for `httpRequestTimeout`. */
  load(ctx: Context, instance: AnalyticsClient): Promise<unknown>;
  /** Called when the plugin is deregistered. */
  unload?(ctx: Context, instance: AnalyticsClient): unknown;
}
