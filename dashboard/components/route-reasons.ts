import type { DestinationExplanation } from '../../lib/webhook-destination/message.explainer.js';

/** Why a destination does not receive a message; the subject is the destination. */
export const ROUTE_REASONS: Record<NonNullable<DestinationExplanation['reason']>, string> = {
  disabled: 'is disabled',
  source: 'gets no messages from this source',
  type: 'gets no messages of this type',
  event: 'has event patterns that this event does not match',
  integrations: "is excluded by the message's integrations",
};
