import type { DeliveryState } from '../../../webhook-destination/queue/delivery-queue.interface.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Destination } from './destination.answer.js';

/** Number of a destination's deliveries in a state, as a link to them. */
export function CountLink({
  destination: { name, figures },
  state,
}: {
  destination: Destination;
  state: DeliveryState;
}) {
  const count = figures.counts[state] ?? 0;
  if (count === 0) return <span class="muted">0</span>;
  return <a href={hrefOf('deliveries', { state, destination: name })}>{count.toLocaleString()}</a>;
}
