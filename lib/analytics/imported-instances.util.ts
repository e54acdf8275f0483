import type { ModulesContainer } from '@nestjs/core';

import { bareImportRule } from '../common/application-modules.util.js';
import { ANALYTICS_OPTIONS, instanceNameOf } from './analytics.tokens.js';
import { DEFAULT_INSTANCE } from './instance.options.js';

type Module = NonNullable<ReturnType<ModulesContainer['get']>>;

/** Returns the names of the application's instances. */
export function findInstanceNames(modules: ModulesContainer): string[] {
  return [...new Set([...modules.values()].flatMap(namesIn))];
}

/** Returns the rule that the application's imports of `AnalyticsModule` break; undefined if they break none. */
export function findImportFault(modules: ModulesContainer): string | undefined {
  if (findInstanceNames(modules).length === 0) return bareImportRule('AnalyticsModule', '{ writeKey }');
  const name = findSharedName([...modules.values()]);
  if (name === undefined) return undefined;
  const names = name === DEFAULT_INSTANCE ? 'no name' : `the name ${JSON.stringify(name)}`;
  const remedy = 'Call forRoot or forRootAsync once, in the root module, or set another name';
  return `must have one instance for each name, but two have ${names}. ${remedy}`;
}

/**
 * Returns the name of two instances that one module can inject: Nest would use the one imported first, and the other
 * would go unnoticed. Instances that are not global may share a name in modules that are separate.
 */
function findSharedName(modules: Module[]): string | undefined {
  const findRepeated = (some: Module[]) => {
    const names = some.filter(({ providers }) => providers.has(ANALYTICS_OPTIONS)).flatMap(namesIn);
    return names.find((name, index) => names.indexOf(name) !== index);
  };
  if (findRepeated(modules) === undefined) return undefined;
  return modules.map((module) => findRepeated([...addImported(module)])).find((name) => name !== undefined);
}

/** Adds the modules that Nest searches for a module's dependencies: its imports, and what these export of theirs. */
function addImported(
  { imports }: Module,
  found = new Set<Module>(),
  isVisible = (_module: Module): boolean => true,
): Set<Module> {
  for (const module of imports) {
    if (found.has(module) || !isVisible(module)) continue;
    found.add(module);
    addImported(module, found, ({ metatype }) => module.exports.has(metatype));
  }
  return found;
}

function namesIn({ providers }: Module): string[] {
  return [...providers.keys()].map(instanceNameOf).filter((name) => name !== undefined);
}
