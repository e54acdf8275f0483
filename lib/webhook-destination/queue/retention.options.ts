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

/**
 * Fills in the defaults.
 * @throws {Error} that names the bound at fault; `factory` is whose option it is
 */
export function toRetention(factory: string, { delivered, dead, messageIds }: RetentionOptions = {}): Retention {
  const retention = {
    delivered: { age: 24 * HOUR, count: 10_000, ...delivered },
    dead: { age: 30 * 24 * HOUR, count: 100_000, ...dead },
    messageIds: { age: 24 * HOUR, count: 1_000_000, ...messageIds },
  };
  for (const [record, bounds] of Object.entries(retention)) {
    for (const [bound, value] of Object.entries(bounds)) {
      if (Number.isSafeInteger(value) && value >= 0) continue;
      throw new Error(`${factory}: retention.${record}.${bound} must be a whole number, 0 or above`);
    }
  }
  return retention;
}
