import { type Route } from '../../shell/hash.router.js';
import { DeliveryView } from './delivery-view.component.js';
import { DeliverySearch } from './delivery-list.component.js';

/** The search for deliveries, or the delivery named by the hash. */
export default function DeliveriesPage({ route }: { route: Route }) {
  const [id] = route.rest;
  return id ? <DeliveryView id={id} /> : <DeliverySearch query={route.query} />;
}
