import type { MessageFault } from '../message/message.rules.js';
import { ValidationError } from '../message/validation.error.js';
import type { Plugin, PluginType } from './plugin.interface.js';

const TYPES: readonly PluginType[] = ['before', 'enrichment', 'destination', 'after', 'utility'];

/** Every broken rule of a plugin's shape (§4.4). */
export function findPluginFaults(plugin: Partial<Plugin> | null | undefined): MessageFault[] {
  const { name, type, load, isLoaded } = plugin ?? {};
  const faults: MessageFault[] = [];
  const must = (holds: boolean, property: string, rule: string) => {
    const message = `${property} of a plugin must ${rule}`;
    if (!holds) faults.push({ field: `plugins.${property}`, code: 'plugin_invalid', message });
  };
  must(typeof name === 'string' && name !== '', 'name', 'be a non-empty string');
  must(TYPES.includes(type as PluginType), 'type', `be one of ${TYPES.join(', ')}`);
  must(typeof load === 'function', 'load', 'be a function');
  must(typeof isLoaded === 'function', 'isLoaded', 'be a function');
  return faults;
}

/**
 * Checks the shape of a plugin (§4.4).
 *
 * @throws {ValidationError} naming the property at fault.
 */
export function checkPlugin(plugin: Plugin): void {
  const [fault] = findPluginFaults(plugin);
  if (fault) throw new ValidationError(fault);
}
