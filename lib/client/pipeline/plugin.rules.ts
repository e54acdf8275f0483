import { ValidationError } from '../message/validation.error.js';
import type { Plugin, PluginType } from './plugin.interface.js';

const TYPES: readonly PluginType[] = ['before', 'enrichment', 'destination', 'after', 'utility'];

/**
 * Checks the shape of a plugin (§4.4).
 *
 * @throws {ValidationError} naming the property at fault.
 */
export function checkPlugin(plugin: Plugin): void {
  if (typeof plugin?.name !== 'string' || plugin.name === '') throw fault('name', 'must be a non-empty string');
  if (!TYPES.includes(plugin.type)) throw fault('type', `must be one of ${TYPES.join(', ')}`);
  if (typeof plugin.load !== 'function') throw fault('load', 'must be a function');
  if (typeof plugin.isLoaded !== 'function') throw fault('isLoaded', 'must be a function');
}

function fault(property: string, rule: string): ValidationError {
  const message = `${property} of a plugin ${rule}`;
  return new ValidationError({ field: `plugins.${property}`, code: 'plugin_invalid', message });
}
