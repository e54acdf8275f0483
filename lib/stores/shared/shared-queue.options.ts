import { Must } from '../../common/options.rules.js';
import { hasReadableUserInfo, isPositiveInteger } from '../../common/value.util.js';
import {
  QueueOptions,
  type RetentionOptions,
  toQueueOptions,
} from '../../webhook-destination/queue/retention.options.js';

/** What queues in a store that processes share have in common. */
export class SharedQueueOptions extends QueueOptions {
  /**
   * Maximum wait for the store at start, in ms.
   * @default 10_000
   */
  @Must('be a whole number above 0', isPositiveInteger)
  connectTimeout: number = 10_000;
}

/** How long a queue that processes share keeps records. */
export interface SharedRetention {
  /**
   * How long records of ended deliveries and message ids are kept. Only `age` applies to message ids, which are kept at
   * least as long as the record. Set the same value in all processes that share the queue. Default: the default of each
   * kind of record.
   */
  retention?: RetentionOptions;
}

/**
 * Checks the options of a queue and fills in the defaults.
 *
 * @param protocols of the URLs that are accepted
 * @param bytes default of `retention.delivered.bytes`
 * @throws {OptionsError} that names each option at fault and its rule, never its value: a URL may hold a password
 */
export function toSharedOptions<T extends SharedQueueOptions & { connection: unknown }>(
  subject: string,
  Options: new () => T,
  given: SharedRetention,
  protocols: string[],
  bytes: number,
): T {
  const findMore = ({ connection }: T) => findConnectionFaults(connection, protocols);
  return toQueueOptions(subject, Options, given, () => bytes, findMore);
}

function findConnectionFaults(connection: unknown, protocols: string[]): string[] {
  if (typeof connection === 'object' && connection !== null) return [];
  const url = typeof connection === 'string' && URL.canParse(connection) ? new URL(connection) : undefined;
  if (!url || !protocols.includes(url.protocol)) {
    const begins = protocols.map((protocol) => `${protocol}//`).join(' or ');
    return [`connection must be a URL that begins with ${begins}, options, or a client`];
  }
  const faults: string[] = [];
  if (protocols.includes('redis:') && !/^\/?\d*$/.test(url.pathname)) {
    faults.push('connection must be a Redis URL without a path, or with the number of a database: redis://host:6379/1');
  }
  if (!hasReadableUserInfo(url.href)) {
    faults.push('connection must be a URL whose user and password are percent-encoded: %25 for %');
  }
  return faults;
}
