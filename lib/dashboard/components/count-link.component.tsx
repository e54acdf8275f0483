import type { DeliveryState } from '../../webhook-destination/queue/delivery-queue.interface.js';

/** States of deliveries, each with its title. */
export const DELIVERY_STATES: readonly (readonly [state: DeliveryState, title: string])[] = [
  ['queued', 'Queued'],
  ['delivering', 'Delivering'],
  ['waiting', 'Waiting'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead'],
];

/** A number, as a link to what was counted; no link if it is 0. */
export function CountLink({ count = 0, href }: { count: number | undefined; href: string }) {
  return count === 0 ? <span class="muted">0</span> : <a href={href}>{count.toLocaleString()}</a>;
}
