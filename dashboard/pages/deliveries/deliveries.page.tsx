import { type Route } from '../../shell/hash.router.js';
import { ReplayView } from '../replays/replay-view.component.js';
import { DeliverySearch } from './delivery-list.component.js';
import { DeliveryView } from './delivery-view.component.js';

/** The search for deliveries, the delivery named by the hash, or the replay: `#/deliveries/replays/<id>`. */
export default function DeliveriesPage({ route: { rest, query } }: { route: Route }) {
  const [id, replay] = rest;
  if (id === 'replays' && replay) return <ReplayView id={replay} />;
  return id ? <DeliveryView id={id} /> : <DeliverySearch query={query} />;
}
