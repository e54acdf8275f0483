import type { DeadReason } from '../../lib/webhook-destination/queue/dead-reasons.js';

/** The classes of dead-letter reasons, in words. */
export const REASON_CLASSES: Record<DeadReason, string> = {
  all_failed: 'every URL failed permanently',
  window_over: 'the retry window is over',
  address_not_allowed: 'address not allowed',
  transform_failed: 'transform failed',
  destination_removed: 'destination removed',
  endpoint_disabled: 'endpoint disabled',
  endpoint_paused: 'endpoint paused',
  aborted: 'aborted by the receiver',
  unreadable: 'the stored delivery cannot be read',
};

/** Returns a class in words; a reason without a class is its own. */
export function toReasonText(name: string): string {
  return Object.hasOwn(REASON_CLASSES, name) ? REASON_CLASSES[name as DeadReason] : name;
}
