import type { Context } from '../event/context.js';
import type { ContextEvent, MessageType } from '../message/message.interface.js';
import type { AnalyticsClient } from './analytics-client.interface.js';

/** When a plugin runs; see {@link Plugin.type}. */
export type PluginType = 'before' | 'enrichment' | 'destination' | 'after' | 'utility';

/** Handles messages of one type. Returns the context that it received, or a promise of it. */
export type PluginHandler = (ctx: Context) => Context | Promise<Context>;

/**
 * Receives each event before it is sent, after all `before` and `enrichment` plugins. Returns the event to send, which
 * it may have changed; `null` or `undefined` cancels the event.
 */
export type BeforeSend = (event: ContextEvent) => ContextEvent | null | undefined;

/**
 * Changes or observes events before and after their delivery, with one handler for each message type that it handles.
 *
 * @see docs/specification.md, "Plugins"
 */
export interface Plugin extends Partial<Record<MessageType, PluginHandler | undefined>> {
  /** Name of the plugin, used by `deregister`. For a `destination` plugin, also its key in `integrations`. */
  name: string;
  /** Further keys in `integrations` that apply to a `destination` plugin. */
  alternativeNames?: string[] | undefined;
  /** Version of the plugin, for information only. */
  version?: string | undefined;
  /**
   * - `before`: runs first, in order of registration. An error fails the event, and the event's callback receives it.
   * - `enrichment`: runs next, in order of registration, and may change the event. An error is reported, and the event
   *   continues.
   * - `destination`: runs in parallel with the delivery, on its own copy of the event. An error is reported.
   * - `after`: runs when the event has been delivered or has failed, before its callback. An error is reported.
   * - `utility`: only loaded; receives no events.
   *
   * A handler that takes longer than `httpRequestTimeout` fails.
   */
  type: PluginType;
  /**
   * Whether delivery depends on the plugin. Nothing is delivered until a critical plugin has loaded. If it fails to
   * load, `register` rejects, and events fail with its error until it is deregistered. Any other plugin that fails to
   * load is dropped with a warning.
   *
   * If a critical plugin takes longer than `httpRequestTimeout` to load, events fail until it has loaded. If any other
   * plugin does, events continue without it, and each event reports a `plugin_failure`.
   *
   * @default false
   */
  critical?: boolean | undefined;
  /** Not called: the promise of `load` says whether the plugin has loaded. For plugins written for other clients. */
  isLoaded?: (() => boolean) | undefined;
  /** Not called. For plugins written for other clients. */
  ready?: (() => Promise<unknown>) | undefined;
  /** Prepares the plugin. Called once, at registration. Events wait for it for at most `httpRequestTimeout`. */
  load(ctx: Context, instance: AnalyticsClient): Promise<unknown>;
  /** Called when the plugin is deregistered. */
  unload?(ctx: Context, instance: AnalyticsClient): unknown;
}
