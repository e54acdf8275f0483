export type SoakEngine = 'sqlite' | 'redis' | 'postgres';

/** What a soak runs with; all times in ms. */
export interface SoakPlan {
  engine: SoakEngine;
  /** How long messages are posted. */
  duration: number;
  /** Messages a second. */
  rate: number;
  /** How often the relay is killed, at even distances. */
  kills: number;
  /** Time for which the flapping receiver is up, and then down. */
  flap: number;
  retryWindow: number;
  initialRetryDelay: number;
  maxRetryDelay: number;
  /** How long records of ended deliveries are kept. */
  records: number;
  /** How long message ids are remembered. */
  messageIds: number;
  /** Requests in flight for each destination: the slow one needs 150 at 300 messages a second. */
  concurrency: number;
}

/** Least window of a soak with kills: on Redis what was in flight comes back after up to 25 s. */
const WINDOW_WITH_KILLS = 60_000;

/**
 * Times that let everything that grows reach its bound within the first quarter: the retries of the dead destination
 * (the window), records (their age, and 15 s until the next sweep), and message ids.
 */
export function soakPlan(engine: SoakEngine, minutes: number, rate: number, kills: number): SoakPlan {
  const duration = minutes * 60_000;
  const quarter = duration / 4;
  const retryWindow = Math.max(Math.min(120_000, quarter * 0.4), kills > 0 ? WINDOW_WITH_KILLS : 0);
  return {
    engine,
    duration,
    rate,
    kills,
    flap: Math.min(20_000, retryWindow / 3),
    retryWindow,
    initialRetryDelay: Math.min(1_000, retryWindow / 20),
    maxRetryDelay: Math.min(10_000, retryWindow / 6),
    records: Math.min(60_000, quarter * 0.2),
    messageIds: Math.min(120_000, quarter * 0.4),
    concurrency: 256,
  };
}

/** The destinations, by how their receivers behave. */
export const DESTINATIONS = ['healthy', 'slow', 'flapping', 'dead'] as const;

export type SoakDestination = (typeof DESTINATIONS)[number];

/** Each destination has a secret of its own: a webhook that reaches another's receiver does not verify there. */
export const secretOf = (destination: string): string => `bench-secret-${destination}`;

const PREFIX = 'soak-';

/** The id of a message by its number, and back. */
export const toMessageId = (index: number): string => `${PREFIX}${index}`;
export const toIndex = (messageId: string): number => Number(messageId.slice(PREFIX.length));
