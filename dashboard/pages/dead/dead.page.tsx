import { type Route } from '../../shell/hash.router.js';
import { toFilter } from '../deliveries/delivery-filter.js';
import { DeadList } from './dead-list.component.js';
import { ReplayView } from './replay-view.component.js';

/** The dead deliveries that match, or the replay named by the hash: `#/dead/replays/<id>`. */
export default function DeadPage({ route: { rest, query } }: { route: Route }) {
  const filter = toFilter(query);
  const [kind, id] = rest;
  return kind === 'replays' && id ? <ReplayView id={id} filter={filter} /> : <DeadList filter={filter} />;
}
