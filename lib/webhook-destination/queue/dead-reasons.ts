import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';

/** Reason of a delivery whose retries ended. */
export const WINDOW_OVER = 'the retry window is over';

/** Reason of a delivery that no URL is tried again with. */
export const ALL_FAILED = 'every URL failed permanently';

/** Reason of a delivery whose destination was removed while it waited. */
export const REMOVED = 'destination removed';

/** Reason of a delivery to an endpoint that was disabled. */
export const DISABLED = 'endpoint disabled';

/** Reason of a delivery to an endpoint that its tenant paused. */
export const PAUSED = 'endpoint paused';

/** Reason of a delivery that its receiver asked not to get again. */
export const ABORTED = 'aborted by the receiver';

/** How the reason begins where the `transform` threw; the error follows. */
export const TRANSFORM_FAILED = 'transform failed';

/**
 * Reason of a delivery that is set aside because its stored data is damaged or missing. What can be read of it is listed;
 * other texts are empty. No replay includes it.
 */
export const UNREADABLE = 'the stored delivery cannot be read';

/**
 * The classes of dead-letter reasons, each with the beginning of its reasons. Queries, the documentation, OpenAPI and the
 * dashboard have them from here.
 */
export const DEAD_REASONS = {
  all_failed: ALL_FAILED,
  window_over: WINDOW_OVER,
  address_not_allowed: ADDRESS_NOT_ALLOWED,
  transform_failed: TRANSFORM_FAILED,
  destination_removed: REMOVED,
  endpoint_disabled: DISABLED,
  endpoint_paused: PAUSED,
  aborted: ABORTED,
  unreadable: UNREADABLE,
} as const;

/** A class of dead-letter reasons. */
export type DeadReason = keyof typeof DEAD_REASONS;

/** Returns the class of a reason; a reason without one is its own class. */
export function classOfReason(reason: string): string {
  const found = Object.entries(DEAD_REASONS).find(([, start]) => reason.startsWith(start));
  return found?.[0] ?? reason;
}

/** Returns how the reasons of a class begin; undefined if there is no such class. */
export function startOfReason(name: string): string | undefined {
  return Object.hasOwn(DEAD_REASONS, name) ? DEAD_REASONS[name as DeadReason] : undefined;
}
