import type { Analytics } from '../analytics.js';
import type { Context } from './context.js';

/** When a plugin runs (§4.4); see {@link Plugin.type}. */
export type PluginType = 'before' | 'enrichment' | 'destination' | 'after' | 'utility';

/** Handles one kind of event: returns the context it was given, or a promise of it. */
export type PluginHandler = (ctx: Context) => Context | Promise<Context>;

/** Changes or observes events on their way (§4.4). */
export interface Plugin {
  /** Names the plugin for `deregister`; of a destination, also its key in `integrations`. */
  name: string;
  /** Further keys in `integrations` that concern a destination. */
  alternativeNames?: string[] | undefined;
  /** Version of the plugin, for whoever reads it. */
  version?: string | undefined;
  /**
   * - `before`: before all else, in order of insertion. A throw ends the event, with an error to its callback.
   * - `enrichment`: then, in order of insertion; changes the event. A throw is reported, and the event goes on.
   * - `destination`: side by side with the delivery, each with its own copy of the event. A throw is reported.
   * - `after`: once the event was delivered or has failed, before its callback. A throw is reported.
   * - `utility`: only loaded; sees no events.
   *
   * A handler that takes longer than `httpRequestTimeout` counts as one that throws.
   */
  type: PluginType;
  /**
   * Nothing is delivered until a critical plugin has loaded. If it fails to, `register` rejects, and events fail
   * with its error until it is deregistered. Any other plugin that fails to load is dropped, with a warning.
   *
   * While loading takes longer than `httpRequestTimeout`, events fail too. For any other plugin, they go on without it,
   * each reported as `plugin_failure`.
   *
   * @default false
   */
  critical?: boolean | undefined;
  /** Whether the plugin has loaded. */
  isLoaded: () => boolean;
  /** Prepares the plugin; called once, when it is registered. Events wait for it, at most for `httpRequestTimeout`. */
  load: (ctx: Context, instance: Analytics) => Promise<unknown>;
  /** Called when the plugin is deregistered. */
  unload?: ((ctx: Context, instance: Analytics) => unknown) | undefined;
  identify?: PluginHandler | undefined;
  track?: PluginHandler | undefined;
  page?: PluginHandler | undefined;
  screen?: PluginHandler | undefined;
  group?: PluginHandler | undefined;
  alias?: PluginHandler | undefined;
}
