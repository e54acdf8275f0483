/**
 * The client alone, for any Node program.
 *
 * @module nestjs-analytics-relay/client
 */

export { Analytics as default } from './analytics.js'; // @segment/analytics-node has it under both names
export type { Listener } from './event/analytics.emitter.js';
export { Context, ContextCancelation, type ContextStats } from './event/context.js';
export type { ContextLogger, LogLevel, LogMessage } from './event/context-logger.js';
export type { Callback } from './event/pending-event.interface.js';
export type { Plugin, PluginHandler, PluginType } from './pipeline/plugin.interface.js';
export * from './root.index.js';
