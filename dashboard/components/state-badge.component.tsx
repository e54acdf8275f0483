import type { DeliveryState } from '../../lib/webhook-destination/queue/delivery.interface.js';

/** States of deliveries, each with its title. */
export const DELIVERY_STATES: readonly (readonly [state: DeliveryState, title: string])[] = [
  ['queued', 'Queued'],
  ['delivering', 'Delivering'],
  ['waiting', 'Waiting'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead'],
];

const LOOKS: Record<string, string> = {
  queued: 'calm',
  delivering: 'active',
  waiting: 'warn',
  retry: 'warn',
  delivered: 'good',
  accepted: 'good',
  message: 'active',
  dead: 'bad',
  rejected: 'bad',
  down: 'bad',
  running: 'active',
  cancelled: 'warn',
  failed: 'bad',
  refused: 'warn',
};

/** A state in one word. The colour repeats what the word says. */
export function StateBadge({ state, label = state }: { state: string; label?: string }) {
  return <span class={`badge ${LOOKS[state] ?? 'calm'}`}>{label}</span>;
}
