import { IsArray, IsOptional, ValidateNested } from 'class-validator';

import { OptionsError } from '../../common/options.error.js';
import { findAbsence, findOptionFaults, IfGiven, Must, toOptions } from '../../common/options.rules.js';
import type { DeliveryQueueFactory } from '../queue/delivery-queue.interface.js';
import { sqliteQueue } from '../queue/sqlite/sqlite.queue.js';
import { type AdminOptions, areAdminOptions } from './admin.options.js';
import { DeliveryOptions } from './delivery.options.js';
import { DestinationOptions } from './destination.options.js';
import { IngestOptions } from './ingest.options.js';
import { findRelationFaults } from './relation.rules.js';
import { SourceOptions } from './source.options.js';

/** What a process does: take messages, deliver them, or both. */
export type RelayMode = 'all' | 'ingest' | 'deliver';

const MODES: RelayMode[] = ['all', 'ingest', 'deliver'];

/** The module's options, checked and with their defaults. */
export class WebhookDestinationOptions {
  @IsArray({ message: 'must be an array' })
  @ValidateNested({ message: 'must hold objects' })
  sources!: SourceOptions[];

  @IsArray({ message: 'must be an array' })
  @ValidateNested({ message: 'must hold objects' })
  destinations!: DestinationOptions[];

  @Must('be a queue, such as sqliteQueue()', (value) => typeof value === 'function')
  queue: DeliveryQueueFactory = sqliteQueue();

  @ValidateNested({ message: 'must be false or an object' })
  @IsOptional()
  ingest: IngestOptions | undefined = new IngestOptions();

  @ValidateNested({ message: 'must be an object' })
  delivery: DeliveryOptions = new DeliveryOptions();

  @Must("be 'all', 'ingest' or 'deliver'", (value) => MODES.includes(value as RelayMode))
  mode: RelayMode = 'all';

  @IfGiven()
  @Must('be { token } with visible ASCII characters without spaces, or { guard } with a guard', areAdminOptions)
  admin?: AdminOptions;
}

/**
 * Options of {@link WebhookDestinationModule}. `undefined` stands for the default. It is refused where nobody would notice
 * that a value is missing: in `sharedSecret`, `sources` and `types` of a destination.
 */
export interface WebhookDestinationModuleOptions {
  /** Where messages come from, each with its write key. */
  sources: SourceOptions[];
  /** Where messages go. */
  destinations: (Partial<DestinationOptions> & Pick<DestinationOptions, 'urls'>)[];
  /**
   * Where accepted messages wait until they are delivered.
   * @default sqliteQueue({ path: './data/relay.db' })
   */
  queue?: DeliveryQueueFactory;
  /**
   * The routes that SDKs post to; `false` adds none.
   * @default { prefix: 'v1' }
   */
  ingest?: Partial<IngestOptions> | false;
  /** How messages are sent and sent again. */
  delivery?: Partial<DeliveryOptions>;
  /**
   * Which half of the work this process does, where processes share a queue: `'ingest'` takes messages and delivers
   * none, `'deliver'` delivers and adds no ingest routes. An embedded queue needs `'all'`.
   * @default 'all'
   */
  mode?: RelayMode;
  /** What opens the administrative routes, such as `POST /v1/delete`. Default: there are none. */
  admin?: AdminOptions;
}

/** First part of the administrative routes, beside those of ingest; undefined where there are none. */
export function adminPrefix({ admin, ingest = new IngestOptions() }: WebhookDestinationOptions): string | undefined {
  return admin && ingest.prefix;
}

/**
 * The options with their defaults.
 * @throws {OptionsError} that names each option at fault and its rule.
 */
export function checkOptions(given: WebhookDestinationModuleOptions): WebhookDestinationOptions {
  const absence = findAbsence(given);
  if (absence.length > 0) throw new OptionsError('WebhookDestinationModule', absence);
  const options = toOptions(WebhookDestinationOptions, given);
  const all = <T extends object>(type: new () => T, list: unknown) =>
    Array.isArray(list) ? list.map((item) => toOptions(type, item)) : (list as T[]);
  options.sources = all(SourceOptions, given.sources);
  options.destinations = all(DestinationOptions, given.destinations);
  options.delivery = toOptions(DeliveryOptions, given.delivery);
  options.ingest = given.ingest === false ? undefined : toOptions(IngestOptions, given.ingest);

  const faults = findOptionFaults(options);
  if (faults.length === 0) faults.push(...findRelationFaults(options));
  if (faults.length > 0) throw new OptionsError('WebhookDestinationModule', faults);
  return options;
}
