import { RequestMethod, type Type } from '@nestjs/common';
import { type AbstractHttpAdapter, type ApplicationConfig, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { PathsExplorer } from '@nestjs/core/router/paths-explorer.js';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import { LineLogger } from '../../common/line.logger.js';
import { throwFaults } from '../../common/options.error.js';

/** A method and a path, with its parameters as `:name`. */
export interface Route {
  method: string;
  path: string;
}

/** A route of the application, and where it is declared. */
interface NamedRoute extends Route {
  name: string;
}

type RoutePathMetadata = Parameters<RoutePathFactory['create']>[0];

/** The keys of Nest's metadata, which its packages do not export alike in all versions. */
const PATH = 'path';
const VERSION = '__version__';
const MODULE_PATH = '__module_path__';

/**
 * Finds the application's own routes that the relay would answer in their place, or the reverse. A route whose path has
 * a parameter or a wildcard where the relay's has a name is only warned about, and one that begins with them is a
 * catch-all, which the relay may precede or follow. Called before Nest registers its routes.
 *
 * @param own the relay's routes
 * @param isOwn whether a controller is that of a relay
 * @throws {OptionsError} that names each route, its controller and the option to change
 */
export function checkRouteConflicts(
  own: Route[],
  isOwn: (controller: unknown) => boolean,
  prefix: string,
  modules: ModulesContainer,
  config: ApplicationConfig,
  adapter: AbstractHttpAdapter,
): void {
  const faults: string[] = [];
  for (const route of [...controllerRoutes(isOwn, modules, config), ...platformRoutes(own, adapter)]) {
    const taken = own.map((one) => ({ ...one, match: match(one, route) })).filter(({ match }) => match !== undefined);
    const text = (routes: Route[]) => routes.map(({ method, path }) => `${method} ${path}`).join(', ');
    const equal = taken.filter(({ match }) => match === 'equal');
    if (equal.length > 0) {
      const rule = `ingest.prefix must keep the relay's routes apart from those of the application; with '${prefix}'`;
      faults.push(`${rule}, ${text(equal)} is also ${route.name}. Set another prefix, such as 'collect'`);
    } else if (taken.length > 0) {
      new LineLogger('WebhookDestinationModule').warn(
        `The relay has ${text(taken)}, which ${route.method} ${route.path} (${route.name}) matches too. ` +
          `If that route needs them, set another ingest.prefix than '${prefix}', such as 'collect'`,
      );
    }
  }
  throwFaults('WebhookDestinationModule', faults);
}

/** Returns the routes of all controllers, with versions, global prefix and module paths, as Nest will register them. */
function controllerRoutes(
  isOwn: (controller: unknown) => boolean,
  modules: ModulesContainer,
  config: ApplicationConfig,
): NamedRoute[] {
  const explorer = new PathsExplorer(new MetadataScanner());
  const factory = new RoutePathFactory(config);
  const globalPrefix = config.getGlobalPrefix() && `/${config.getGlobalPrefix().replace(/^\/+/, '')}`;
  const versioningOptions = config.getVersioning();
  return [...modules.values()].flatMap(({ controllers, metatype: module }) => {
    const modulePath = read(MODULE_PATH + modules.applicationId, module) ?? read(MODULE_PATH, module) ?? '';
    return [...controllers.values()].flatMap(({ metatype }) => {
      if (typeof metatype !== 'function' || isOwn(metatype)) return [];
      const prototype = metatype.prototype as object;
      const controllerVersion = versioningOptions && (read(VERSION, metatype) ?? versioningOptions.defaultVersion);
      const common: RoutePathMetadata = { modulePath, globalPrefix, versioningOptions, controllerVersion };
      const controllerPaths = [read<string | string[]>(PATH, metatype) ?? ''].flat();
      return explorer.scanForPaths(prototype as never, prototype).flatMap((route) =>
        controllerPaths
          .flatMap((ctrlPath) => route.path.map((methodPath) => ({ ...common, ctrlPath, methodPath })))
          .flatMap((parts) => factory.create({ ...parts, methodVersion: route.version }, route.requestMethod))
          .map((path) => ({
            method: RequestMethod[route.requestMethod],
            path,
            name: `${metatype.name}.${route.methodName}`,
          })),
      );
    });
  });
}

function read<T = string>(key: string, target: unknown): T | undefined {
  return Reflect.getMetadata(key, target as Type) as T | undefined;
}

/** Returns the routes that the application added to Express or Fastify itself, of Fastify only those of the relay. */
function platformRoutes(own: Route[], adapter: AbstractHttpAdapter): NamedRoute[] {
  const instance: unknown = adapter.getInstance();
  if (adapter.getType() === 'fastify') {
    const fastify = instance as FastifyInstance;
    const found = own.filter(({ method, path }) => fastify.hasRoute({ method, url: path }));
    return found.map((route) => ({ ...route, name: 'a route of Fastify' }));
  }
  const { router } = instance as { router?: { stack?: { route?: ExpressRoute }[] } };
  return (router?.stack ?? []).flatMap(({ route }) =>
    [route?.path ?? []].flat().flatMap((path) =>
      Object.keys(route!.methods).map((method) => ({
        method: method === '_all' ? 'ALL' : method.toUpperCase(),
        path: String(path), // a regular expression matches no path of the relay here
        name: 'a route of Express',
      })),
    ),
  );
}

interface ExpressRoute {
  path: string | RegExp | (string | RegExp)[];
  methods: Record<string, boolean>;
}

/** Returns how a route of the application matches a route of the relay: every segment, or some as a parameter. */
function match(own: Route, other: Route): 'equal' | 'partly' | undefined {
  if (other.method !== own.method && other.method !== 'ALL') return undefined;
  const [segments, others] = [own.path, other.path].map((path) => path.split('/').filter((part) => part !== ''));
  let result: 'equal' | 'partly' = 'equal';
  for (const [index, segment] of segments!.entries()) {
    const part = others![index];
    if (part === undefined) return undefined;
    if (part === segment || (segment.startsWith(':') && !part.includes('*'))) continue;
    if (index === 0 || !/[:*]/.test(part)) return undefined;
    if (part.includes('*')) return 'partly';
    result = 'partly';
  }
  return others!.length === segments!.length ? result : undefined;
}
