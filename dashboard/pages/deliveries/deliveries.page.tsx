import { type Route } from '../../shell/hash.router.js';
import { ReplayView } from '../replays/replay-view.component.js';
import { toReplayable } from '../replays/replay-words.js';
import { DeliverySearch } from './delivery-list.component.js';
import { toFilter } from './delivery-filter.js';
import { DeliveryView } from './delivery-view.component.js';

/** The search for deliveries, the delivery named by the hash, or the replay: `#/deliveries/replays/<id>?state=waiting`. */
export default function DeliveriesPage({ route: { rest, query } }: { route: Route }) {
  const [id, replay] = rest;
  if (id === 'replays' && replay) {
    const { state, ...filter } = toFilter(query);
    return <ReplayView id={replay} state={toReplayable(state) ?? 'dead'} filter={filter} />;
  }
  return id ? <DeliveryView id={id} /> : <DeliverySearch query={query} />;
}
