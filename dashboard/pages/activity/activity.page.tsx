import type { Route } from '../../shell/hash.router.js';
import { ActivityList } from './activity-list.component.js';
import { ActivityView } from './activity-view.component.js';

/** The activity that matches, or the entry named by the hash: `#/activity/<id>`. */
export default function ActivityPage({ route: { rest, query } }: { route: Route }) {
  const [id] = rest;
  return id ? <ActivityView id={id} /> : <ActivityList query={query} />;
}
