import type { ModulesContainer } from '@nestjs/core';

import { bareImportRule, refuseImport } from '../common/import-refusal.util.js';
import { LineLogger } from '../common/line.logger.js';
import { MODULE_OPTIONS } from './webhook-destination.tokens.js';

const warned = new WeakSet<ModulesContainer>();

/**
 * Checks how an application imports the module. Warns if it has several relays that are global: which service a module
 * injects then depends on the order of imports and the version of NestJS.
 *
 * @throws {OptionsError} if it imports the module only without options
 */
export function checkModuleImports(modules: ModulesContainer): void {
  const relays = [...modules.values()].filter(({ providers }) => providers.has(MODULE_OPTIONS));
  const name = 'WebhookDestinationModule';
  if (relays.length === 0) refuseImport(modules, name, bareImportRule(name, '{ sources, destinations }'));
  if (warned.has(modules) || relays.filter(({ isGlobal }) => isGlobal).length < 2) return;
  warned.add(modules);
  new LineLogger(name).warn(
    'More than one WebhookDestinationModule is global, so a module may inject the WebhookDestinationService of the ' +
      'wrong one. Set isGlobal: false in each, and import each where its service is injected',
  );
}
