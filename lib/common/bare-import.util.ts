import { LineLogger } from './line.logger.js';
import { OptionsError } from './options.error.js';

/**
 * Refuses an application that imports a module only without options.
 *
 * @param options an example of the options of `forRoot`
 * @throws {OptionsError}
 */
export function refuseBareImport(module: string, options: string): never {
  const rule = `must be imported as ${module}.forRoot(${options}) or ${module}.forRootAsync(...)`;
  // Logged too: if its service is injected, Nest stops first with its own error, which does not say this.
  new LineLogger(module).error(`${module} ${rule}`);
  throw new OptionsError(module, [rule]);
}
