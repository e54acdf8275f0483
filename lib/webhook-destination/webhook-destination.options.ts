import { OptionsError, throwFaults } from '../common/options.error.js';
import {
  AppliesIf,
  findAbsence,
  findOptionFaults,
  IfGiven,
  Must,
  MustIfPresent,
  MustList,
  MustNest,
  NextToFactory,
  toOptions,
  validOptions,
} from '../common/options.rules.js';
import { isTelemetry, type Telemetry } from '../common/telemetry/telemetry.interface.js';
import { isPositiveInteger } from '../common/value.util.js';
import type { DeliveryQueueFactory } from './queue/delivery.queue.js';
import { QUEUE_RULE } from './queue/queue.factory.js';
import { sqliteQueue } from '../stores/sqlite/sqlite.queue.js';
import { ADMIN_RULE, type AdminOptions, areAdminOptions } from './admin/admin.options.js';
import { findTokenFaults } from './admin/token.rules.js';
import { DeliveryOptions } from './dispatch/delivery.options.js';
import { DestinationOptions } from './dispatch/destination.options.js';
import { findDeliveryFaults } from './dispatch/destination.rules.js';
import { IngestOptions } from './ingest/ingest.options.js';
import { SourceOptions } from './ingest/source.options.js';
import type { GivenDestination, RegistryOption } from './registry/destination-registry.interface.js';
import { areRegistrySecrets, isRegistryOption, MIN_REGISTRY_SECRET } from './registry/registry.options.js';
import { findCatalogueFaults } from './portal/catalogue.options.js';
import { PortalOptions } from './portal/portal.options.js';
import { SearchOptions } from './search.options.js';
import type { VisibilityOptions } from './visibility.options.js';

/** Whether a process accepts messages, delivers them, or both. */
export type RelayMode = 'all' | 'ingest' | 'deliver';

const MODES: RelayMode[] = ['all', 'ingest', 'deliver'];

/** The module's options after validation, with defaults filled in. */
export class WebhookDestinationOptions {
  @MustList('be an object { name, writeKey }')
  sources!: SourceOptions[];

  @MustList("be an object, such as { urls: ['https://receiver.example/hook'] }")
  destinations!: DestinationOptions[];

  /**
   * Where accepted messages wait until they are delivered.
   * @default sqliteQueue({ path: './data/relay.db' })
   */
  @Must(QUEUE_RULE, (value) => typeof value === 'function')
  queue: DeliveryQueueFactory = sqliteQueue();

  /**
   * Where sources and destinations that change at run time are kept. `'store'` keeps them in the store of the queue,
   * where `service.sources` and `service.destinations` change them. A provider supplies the application's own
   * {@link DestinationRegistry}. The options `sources` and `destinations` take precedence over entries with the same
   * name. Default: none.
   * @see docs/destinations.md, "Changing destinations at run time"
   */
  @IfGiven()
  @Must(
    "be 'store', or one of { useValue }, { useExisting }, { useClass } and { useFactory, inject }",
    isRegistryOption,
  )
  registry?: RegistryOption;

  /**
   * Encrypts the entries of `registry: 'store'` with AES-256-GCM. At least 16 characters. In a list, the first secret
   * encrypts and every secret decrypts; entries not encrypted with the first secret are rewritten at start. `undefined`
   * is refused. Default: entries are not encrypted.
   * @see docs/destinations.md, "Encryption at rest"
   */
  @MustIfPresent(
    `be a secret of ${MIN_REGISTRY_SECRET} or more characters, or an array of different secrets of that length`,
    areRegistrySecrets,
  )
  registrySecret?: string | string[];

  @AppliesIf((_options, value) => value != null)
  @MustNest('be false or an object')
  ingest: IngestOptions | undefined = new IngestOptions();

  @MustNest('be an object')
  delivery: DeliveryOptions = new DeliveryOptions();

  /**
   * Which half of the work this process does when processes share a queue. `'ingest'` accepts messages and delivers
   * none; `'deliver'` delivers and adds no ingest routes. An embedded queue requires `'all'`.
   * @default 'all'
   * @see docs/scaling.md, "Ingest and delivery apart"
   */
  @Must("be 'all', 'ingest' or 'deliver'", (value) => MODES.includes(value as RelayMode))
  mode: RelayMode = 'all';

  /**
   * Authentication for the admin API and `POST /v1/delete`. Default: these routes do not exist.
   * @see docs/admin-api.md, "Who may call it"
   */
  @IfGiven()
  @Must(ADMIN_RULE, areAdminOptions)
  admin?: AdminOptions;

  /**
   * Pages and an API in which the application's customers manage their own endpoints. Requires `registry: 'store'`.
   * Default: none.
   * @see docs/portal.md, "Set it up"
   */
  @AppliesIf((_options, value) => value !== undefined)
  @MustNest('be an object')
  portal: PortalOptions | undefined = undefined;

  /**
   * Receives the spans and metrics of ingest and delivery: `openTelemetry()` from
   * `nestjs-analytics-relay/opentelemetry`. Default: none.
   * @see docs/observability.md, "Traces"
   */
  @IfGiven()
  @Must('be what openTelemetry() returns, or another Telemetry', isTelemetry)
  telemetry?: Telemetry;

  @MustNest('be an object')
  search: SearchOptions = new SearchOptions();

  /**
   * Maximum number of destinations, and of receiver hosts, with their own metric series: the destinations with the most
   * messages, and hosts in order of first use. All others share the name `_other`. Whole number above 0.
   * @default 200
   */
  @Must('be a whole number above 0', isPositiveInteger)
  maxMetricDestinations: number = 200;

  @NextToFactory()
  isGlobal?: never;
}

/**
 * Options of {@link WebhookDestinationModule}. `undefined` selects the default. It is refused for `registrySecret`, and
 * for `sharedSecret`, `sources`, `types` and `events` of a destination, where a missing value could go unnoticed.
 */
export interface WebhookDestinationModuleOptions extends Partial<
  Pick<
    WebhookDestinationOptions,
    'queue' | 'mode' | 'admin' | 'registry' | 'registrySecret' | 'telemetry' | 'maxMetricDestinations'
  >
> {
  /** The sources of messages, each with its write key. Default: required, unless `registry` is set. */
  sources?: SourceOptions[];
  /** The destinations of messages. Default: required, unless `registry` is set. */
  destinations?: GivenDestination[];
  /**
   * The routes that SDKs post to; with `false`, there are none.
   * @default { prefix: 'v1' }
   * @see docs/ingest.md, "Routes"
   */
  ingest?: Partial<IngestOptions> | false;
  /** How messages are sent and retried. Default: the default of each of its options. */
  delivery?: Partial<DeliveryOptions>;
  /** How deliveries are found. Default: the default of each of its options. */
  search?: Partial<SearchOptions>;
  /**
   * Pages and an API in which the application's customers manage their own endpoints; `secret` is required. Default: none.
   * @see docs/portal.md, "Set it up"
   */
  portal?: Pick<PortalOptions, 'secret'> & Partial<PortalOptions>;
}

/**
 * Validates the options and fills in defaults.
 * @throws {OptionsError} naming each invalid option and its rule.
 */
export function checkOptions(
  given: WebhookDestinationModuleOptions,
  visibility: VisibilityOptions,
): WebhookDestinationOptions {
  const visibilityFaults = findOptionFaults(visibility);
  const absence = findAbsence(given);
  if (absence.length > 0) throw new OptionsError('WebhookDestinationModule', [...absence, ...visibilityFaults]);
  const options = toOptions(WebhookDestinationOptions, given);
  const all = <T extends object>(type: new () => T, list: unknown) => {
    if (list === undefined && given.registry !== undefined) return [];
    return Array.isArray(list) ? list.map((item) => toOptions(type, item)) : (list as T[]);
  };
  options.sources = all(SourceOptions, given.sources);
  options.destinations = all(DestinationOptions, given.destinations);
  options.delivery = toOptions(DeliveryOptions, given.delivery);
  options.search = toOptions(SearchOptions, given.search);
  options.portal = given.portal === undefined ? undefined : toOptions(PortalOptions, given.portal);
  options.ingest = given.ingest === false ? undefined : toOptions(IngestOptions, given.ingest);

  const faults = [...findOptionFaults(options), ...visibilityFaults];
  faults.push(...findRelationFaults(options, validOptions(faults)));
  throwFaults('WebhookDestinationModule', faults);
  return options;
}

/**
 * Returns the faults between options that are each valid on their own.
 *
 * @param isValid whether an option, by path, breaks no rule of its own
 */
function findRelationFaults(options: WebhookDestinationOptions, isValid: (path: string) => boolean): string[] {
  const { queue, mode, registry, registrySecret, admin, portal } = options;
  const [sources, destinations] = [objectsOf(options.sources), objectsOf(options.destinations)];
  const [delivery] = objectsOf([options.delivery]);
  const names = new Set(sources.map(({ name }) => name));
  // The sources of a registry are not known yet.
  const areKnown =
    registry === undefined && Array.isArray(options.sources) && sources.every((_, i) => isValid(`sources[${i}].name`));
  return [
    ...(isValid('mode') && isValid('queue') && mode !== 'all' && !queue.isShared
      ? ["mode must be 'all' with an embedded queue; 'ingest' and 'deliver' need a shared queue such as bullmqQueue()"]
      : []),
    ...findRepeated('sources', 'name', sources),
    ...findRepeated('sources', 'writeKey', sources),
    ...findRepeated('destinations', 'name', destinations),
    ...(isValid('registry') && registrySecret !== undefined && registry !== 'store'
      ? ["registrySecret requires registry: 'store'"]
      : []),
    ...(isValid('registry') && isValid('portal') && portal !== undefined && registry !== 'store'
      ? ["portal requires registry: 'store'"]
      : []),
    ...(isValid('portal.operator') && portal?.operator && !destinations.some(({ name }) => name === portal.operator)
      ? [`portal.operator must name a destination of this module; "${portal.operator}" is not declared`]
      : []),
    ...findCatalogueFaults(portal?.events),
    ...(areKnown ? destinations : []).flatMap(({ sources: wanted = [] }, index) =>
      (isValid(`destinations[${index}].sources`) ? wanted : [])
        .filter((name) => !names.has(name))
        .map((name) => `destinations[${index}].sources must name sources of this module; "${name}" is not declared`),
    ),
    ...findDeliveryFaults(destinations, delivery!, isValid),
    ...findTokenFaults(isValid('admin') ? admin : undefined, sources),
  ];
}

/** Returns a list with an object without options in place of what is not an object; none in place of another value. */
function objectsOf<T extends object>(list: T[]): T[] {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  return Array.isArray(list) ? list.map((item) => (isObject(item) ? item : ({} as T))) : [];
}

function findRepeated<T>(list: string, field: keyof T & string, items: T[]): string[] {
  const seen = new Set<unknown>();
  const fault = `${field} must differ from that of every other ${list.slice(0, -1)}`;
  return items.flatMap((item, index) =>
    item[field] !== undefined && seen.size === seen.add(item[field]).size ? [`${list}[${index}].${fault}`] : [],
  );
}
