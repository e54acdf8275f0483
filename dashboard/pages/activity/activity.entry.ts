import type { ActivityEntry } from '../../../lib/webhook-destination/admin/activity/activity.entry.js';
import type { Receipt } from '../../../lib/webhook-destination/admin/activity/deletion-receipts.js';
import { hrefOf } from '../../shell/hash.router.js';

export type { ActivityEntry, Receipt };

/** Answer of `GET activity/:id`. */
export interface WholeEntry extends ActivityEntry {
  /** Of a deletion: what became of its notifications, by destination. */
  receipts?: Record<string, Receipt>;
}

/** Pages of what actions and routes are about, by what these begin with. */
const PAGES: [start: string, page: string, ...rest: string[]][] = [
  ['destination', 'destinations'],
  ['endpoint.', 'destinations'],
  ['source', 'sources'],
  ['refusals', 'sources'],
  ['deliveries.replay', 'deliveries', 'replays'],
  ['replays', 'deliveries', 'replays'],
  ['deliver', 'deliveries'],
  ['user.delete', 'activity'],
];

/** Returns the link to what an entry is about; undefined if there is none. */
export function hrefOfTarget({ action, target, details }: ActivityEntry): string | undefined {
  if (target === undefined) return undefined;
  const route = typeof details?.route === 'string' ? details.route.split(' ')[1] : undefined;
  const [, page, ...rest] = PAGES.find(([start]) => (route ?? action).startsWith(start)) ?? [];
  return page && hrefOf(page, {}, ...rest, target);
}

/** Returns the caller as text. */
export function callerOf({ user, by }: ActivityEntry): string {
  return user ?? (by === undefined ? 'unknown' : by === 'application' ? 'the application' : `a ${by}`);
}
