import { type Route } from '../../shell/hash.router.js';
import { toFilter } from '../deliveries/delivery-filter.js';
import { ReplayView } from '../replays/replay-view.component.js';
import { DeadList } from './dead-list.component.js';

/** The dead deliveries that match, or the replay named by the hash: `#/dead/replays/<id>`. */
export default function DeadPage({ route: { rest, query } }: { route: Route }) {
  const filter = toFilter(query);
  const [kind, id] = rest;
  return kind === 'replays' && id ? <ReplayView id={id} state="dead" filter={filter} /> : <DeadList filter={filter} />;
}
