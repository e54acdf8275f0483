import type { DeliveryState, Endpoint } from '../api/portal.answers.js';
import { words } from '../words/words.js';

const ENDPOINT_LOOKS: Record<Endpoint['state'], string> = {
  active: 'good',
  failing: 'warn',
  paused: 'calm',
  disabled: 'bad',
};

const DELIVERY_LOOKS: Record<DeliveryState, string> = {
  waiting: 'warn',
  active: 'active',
  delivered: 'good',
  dead: 'bad',
};

/** The state of an endpoint in one word. */
export function EndpointBadge({ state }: { state: Endpoint['state'] }) {
  return <span class={`badge ${ENDPOINT_LOOKS[state]}`}>{words.states[state]}</span>;
}

/** The state of a delivery in one word. */
export function DeliveryBadge({ state }: { state: DeliveryState }) {
  return <span class={`badge ${DELIVERY_LOOKS[state]}`}>{words.deliveryStates[state]}</span>;
}
