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

/** How long the queue keeps records that delivery no longer needs. */
export interface RetentionOptions {
  /**
   * Records of delivered messages, with body and attempts.
   * @default { age: 86_400_000, count: 10_000 } (a day)
   */
  delivered?: RetentionBound;
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
export type Retention = Record<'delivered' | 'dead' | 'messageIds' | 'refused', Required<RetentionBound>>;

class Bound implements Required<RetentionBound> {
  @Must('be a whole number, 0 or above', isWholeNumber)
  age: number = 24 * HOUR;

  @Must('be a whole number, 0 or above', isWholeNumber)
  count: number = 10_000;
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
  delivered: Bound = new Bound();

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
 * @param findMore returns the faults that the rules of the class do not find
 * @throws {OptionsError} that names each option at fault and its rule
 */
export function toQueueOptions<T extends QueueOptions>(
  factory: string,
  type: new () => T,
  given: { retention?: RetentionOptions } = {},
  findMore: (options: T) => string[] = () => [],
): T {
  if (typeof given !== 'object' || given === null) throw new OptionsError(factory, ['the options must be an object']);
  const options = toOptions(type, given);
  options.retention = toOptions(CheckedRetention, given.retention);
  const { delivered, dead, messageIds, refused } = given.retention ?? {};
  Object.assign(options.retention ?? {}, {
    delivered: toOptions(Bound, delivered),
    dead: toOptions(DeadBound, dead),
    messageIds: toOptions(MessageIdBound, messageIds),
    refused: toOptions(RefusedBound, refused),
  });
  throwFaults(factory, [...findOptionFaults(options), ...findMore(options)]);
  return options;
}
