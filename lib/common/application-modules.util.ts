import type { ModuleRef, ModulesContainer } from '@nestjs/core';

import { OptionsError } from './options.error.js';
import { LineLogger } from './line.logger.js';

type Provider = NonNullable<ReturnType<NonNullable<ReturnType<ModulesContainer['get']>>['providers']['get']>>;

/** Applications whose imports are refused. Each import is a module, and would log the line. */
const refused = new WeakSet<ModulesContainer>();

/**
 * Returns the modules of the application. An injected `ModulesContainer` is unusable if `instrument.instanceDecorator`
 * has wrapped it in a proxy, because it is a `Map`.
 */
export function modulesOf(moduleRef: ModuleRef): ModulesContainer {
  return moduleRef['container'].getModules();
}

/** Returns what the modules of the application provide with this token. */
export function findProviders<T>(moduleRef: ModuleRef, token: symbol): T[] {
  try {
    return moduleRef.get<T>(token, { strict: false, each: true });
  } catch {
    return []; // no module provides it
  }
}

/**
 * Makes Nest close the modules with this provider after all others, in any order of imports: until then, jobs that
 * other modules wait for may record events.
 */
export function closeLast(modules: ModulesContainer, token: symbol): void {
  for (const module of modules.values()) if (module.providers.has(token)) module.distance = Infinity;
}

/**
 * Refuses options that depend on a request: Nest would create nothing at start, and say nothing.
 * @throws {OptionsError} that names the provider with the scope of a request
 */
export function refuseRequestScope(modules: ModulesContainer, name: string, token: symbol): void {
  for (const { providers } of modules.values()) {
    const options = providers.get(token);
    if (!options || options.isDependencyTreeStatic()) continue;
    const cause = findRequestScoped(options);
    const rule = `must have options that are the same for every request, but they depend on ${cause}, which is request-scoped`;
    throw new OptionsError(name, [rule]);
  }
}

function findRequestScoped(provider: Provider): string {
  const dependencies = [
    ...(provider.getCtorMetadata() ?? []),
    ...(provider.getPropertiesMetadata() ?? []).map(({ wrapper }) => wrapper),
  ];
  const cause = dependencies.find((dependency) => dependency && !dependency.isDependencyTreeStatic());
  return cause ? findRequestScoped(cause) : String(provider.name);
}

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
