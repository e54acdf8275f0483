import { ValidateNested } from 'class-validator';

import { OptionsError } from '../../common/options.error.js';
import { findOptionFaults, Must, toOptions } from '../../common/options.rules.js';

const HOUR = 3_600_000;

/** How long records are kept: until they pass either bound. */
export interface RetentionBound {
  /** Longest time since the delivery ended or the message was accepted, in ms. */
  age?: number;
  /** Most records kept: those accepted last; in `bullmqQueue` those that ended last, for each destination. */
  count?: number;
}

/** How long the queue keeps what it needs no more to deliver. */
export interface RetentionOptions {
  /**
   * Records of delivered messages, with body and attempts.
   * @default { age: 86_400_000, count: 10_000 } (a day)
   */
  delivered?: RetentionBound;
  /**
   * Dead letters: they can be replayed as long as they are kept.
   * @default { age: 2_592_000_000, count: 100_000 } (30 days)
   */
  dead?: RetentionBound;
  /**
   * The ids of accepted messages: one that comes again meanwhile, for the same destination and from the same source,
   * counts as accepted and is not delivered again.
   * @default { age: 86_400_000, count: 1_000_000 } (a day)
   */
  messageIds?: RetentionBound;
}

/** The bounds with their defaults. */
export type Retention = Record<'delivered' | 'dead' | 'messageIds', Required<RetentionBound>>;

const isWholeNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

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

class CheckedRetention implements Retention {
  @ValidateNested({ message: 'must be an object' })
  delivered: Bound = new Bound();

  @ValidateNested({ message: 'must be an object' })
  dead: Bound = new DeadBound();

  @ValidateNested({ message: 'must be an object' })
  messageIds: Bound = new MessageIdBound();
}

/**
 * Fills in the defaults.
 * @throws {OptionsError} that names each bound at fault and its rule; `factory` is whose option it is
 */
export function toRetention(factory: string, given: RetentionOptions = {}): Retention {
  const retention = toOptions(CheckedRetention, given);
  if (typeof given !== 'object' || given === null) throw new OptionsError(factory, ['retention must be an object']);
  retention.delivered = toOptions(Bound, given.delivered);
  retention.dead = toOptions(DeadBound, given.dead);
  retention.messageIds = toOptions(MessageIdBound, given.messageIds);
  const faults = findOptionFaults(retention);
  if (faults.length > 0) {
    throw new OptionsError(
      factory,
      faults.map((fault) => `retention.${fault}`),
    );
  }
  return retention;
}
