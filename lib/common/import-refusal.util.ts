import type { ModulesContainer } from '@nestjs/core';

import { LineLogger } from './line.logger.js';
import { OptionsError } from './options.error.js';

/** Applications whose imports are refused. Each import is a module, and would log the line. */
const refused = new WeakSet<ModulesContainer>();

/** Returns the rule that an application breaks if it imports a module only without options, such as `options`. */
export function bareImportRule(module: string, options: string): string {
  return `must be imported as ${module}.forRoot(${options}) or ${module}.forRootAsync(...)`;
}

/**
 * Refuses how an application imports a module.
 * @throws {OptionsError}
 */
export function refuseImport(modules: ModulesContainer, module: string, rule: string): never {
  // Logged too: if its service is injected, Nest stops first with its own error, which does not say this.
  if (!refused.has(modules)) new LineLogger(module).error(`${module} ${rule}`);
  refused.add(modules);
  throw new OptionsError(module, [rule]);
}
