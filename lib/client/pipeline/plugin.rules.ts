import type { Plugin, PluginType } from './plugin.interface.js';

const TYPES: readonly PluginType[] = ['before', 'enrichment', 'destination', 'after', 'utility'];

/** Returns the rules that a plugin breaks, each as `path rule`. */
export function findPluginFaults(plugin: Partial<Plugin> | null | undefined): string[] {
  const { name, type, load } = plugin ?? {};
  const rules: [holds: boolean, rule: string][] = [
    [typeof name === 'string' && name !== '', 'name must be a non-empty string'],
    [TYPES.includes(type as PluginType), `type must be one of ${TYPES.join(', ')}`],
    [typeof load === 'function', 'load must be a function'],
  ];
  return rules.filter(([holds]) => !holds).map(([, rule]) => `plugins.${rule}`);
}
