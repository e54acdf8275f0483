import { OptionsError, throwFaults } from '../../common/options.error.js';
import { findOptionFaults, Must, MustNest, toOptions } from '../../common/options.rules.js';
import { isWholeNumber } from '../../common/value.util.js';

const HOUR = 3_600_000;

/** How long records are kept: a record that exceeds either bound is removed. */
export interface RetentionBound {
  /** Maximum time since delivery ended or the message was accepted, in ms. Default: depends on the kind of record. */
  age?: number;
  /**
   * Maximum number of records of all destinations. If there are more, the destinations with the most records give up
   * those that ended first, until none has more than another. Default: depends on the kind of record.
   */
  count?: number;
}

/** How long records of delivered messages are kept. */
export interface DeliveredBound extends RetentionBound {
  /**
   * Maximum size of the records of all destinations in the store, in bytes: bodies, attempts and what the store adds.
   * Shared among destinations as `count` is. Default: 5,000,000,000 (5 GB) with SQLite, and at most a quarter of its
   * disk and of `maxBytes`; 5,000,000,000 with PostgreSQL; 250,000,000 with Redis; 50,000,000 in memory.
   */
  bytes?: number;
}

/** How long the queue keeps records that delivery no longer needs. */
export interface RetentionOptions {
  /**
   * Records of delivered messages, with body and attempts.
   * @default { age: 86_400_000 } (a day), any count, and the bytes of the queue
   */
  delivered?: DeliveredBound;
  /**
   * Dead letters, which can be replayed while they are kept.
   * @default { age: 2_592_000_000, count: 100_000 } (30 days)
   */
  dead?: RetentionBound;
  /**
   * Ids of accepted messages. A message with a kept id, from the same source and for the same destination, counts as
   * accepted and is not delivered again.
   * @default { age: 86_400_000, count: 1_000_000 } (a day)
   */
  messageIds?: RetentionBound;
  /**
   * Messages that ingest has refused, up to 32 KiB of each, in processes with the option `admin`. `count` is the maximum
   * number of each source, whose oldest are removed. `{ count: 0 }` keeps none.
   * @default { age: 604_800_000, count: 1_000 } (7 days)
   */
  refused?: RetentionBound;
}

/** Retention bounds, with defaults filled in. */
export interface Retention {
  delivered: Required<DeliveredBound>;
  dead: Required<RetentionBound>;
  messageIds: Required<RetentionBound>;
  /** Of the refused messages of each source. */
  refused: Required<RetentionBound>;
}

/** Bounds on the number and size of records. */
export type RecordBound = Pick<Required<DeliveredBound>, 'count' | 'bytes'>;

/** States of ended deliveries, whose records have bounds. */
export const ENDED_STATES = ['delivered', 'dead'] as const;

export type EndedState = (typeof ENDED_STATES)[number];

/** Returns the bounds of the records of a state. Those of dead deliveries have no bytes. */
export function boundOf(retention: Retention, state: EndedState): Required<DeliveredBound> {
  return { bytes: Number.MAX_SAFE_INTEGER, ...retention[state] };
}

class Bound implements Required<RetentionBound> {
  @Must('be a whole number, 0 or above', isWholeNumber)
  age: number = 24 * HOUR;

  @Must('be a whole number, 0 or above', isWholeNumber)
  count: number = Number.MAX_SAFE_INTEGER;
}

class CheckedDelivered extends Bound implements Required<DeliveredBound> {
  @Must('be a whole number, 0 or above', isWholeNumber)
  bytes: number = 0; // each queue has a default of its own
}

class DeadBound extends Bound {
  override age: number = 30 * 24 * HOUR;
  override count: number = 100_000;
}

class MessageIdBound extends Bound {
  override count: number = 1_000_000;
}

class RefusedBound extends Bound {
  override age: number = 7 * 24 * HOUR;
  override count: number = 1_000;
}

class CheckedRetention implements Retention {
  @MustNest('be an object')
  delivered: CheckedDelivered = new CheckedDelivered();

  @MustNest('be an object')
  dead: Bound = new DeadBound();

  @MustNest('be an object')
  messageIds: Bound = new MessageIdBound();

  @MustNest('be an object')
  refused: Bound = new RefusedBound();
}

/** Options that all queue factories have. */
export class QueueOptions {
  @MustNest('be an object')
  retention: Retention = new CheckedRetention();
}

/**
 * Checks a factory's options and fills in the defaults.
 *
 * @param bytesOf returns the default of `retention.delivered.bytes`
 * @param findMore returns the faults that the rules of the class do not find
 * @throws {OptionsError} that names each option at fault and its rule
 */
export function toQueueOptions<T extends QueueOptions>(
  factory: string,
  type: new () => T,
  given: { retention?: RetentionOptions } = {},
  bytesOf: (options: T) => number,
  findMore: (options: T) => string[] = () => [],
): T {
  if (typeof given !== 'object' || given === null) throw new OptionsError(factory, ['the options must be an object']);
  const options = toOptions(type, given);
  options.retention = toOptions(CheckedRetention, given.retention);
  const { delivered, dead, messageIds, refused } = given.retention ?? {};
  Object.assign(options.retention ?? {}, {
    delivered: toOptions(CheckedDelivered, delivered),
    dead: toOptions(DeadBound, dead),
    messageIds: toOptions(MessageIdBound, messageIds),
    refused: toOptions(RefusedBound, refused),
  });
  throwFaults(factory, [...findOptionFaults(options), ...findMore(options)]);
  if (delivered?.bytes === undefined) options.retention.delivered.bytes = bytesOf(options);
  return options;
}
