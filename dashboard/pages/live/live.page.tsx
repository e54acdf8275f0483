import { useEffect, useMemo, useState } from 'preact/hooks';

import { type LiveFilter, LiveStream } from '../../api/live.stream.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { hrefOf, replaceQuery, type Route } from '../../shell/hash.router.js';
import { keep, recall } from '../../shell/history-entry.state.js';
import { LiveFilters } from './live-filters.component.js';
import { LiveTable } from './live-table.component.js';
import { EMPTY_VIEW, LiveRing, type LiveView } from './live.ring.js';

const FIELDS = ['kind', 'type', 'source', 'destination', 'event', 'userId', 'messageId'] as const;

/** State of a delivery after each kind of outcome; a refused message has no delivery. */
const OUTCOMES = new Map([
  ['delivered', 'delivered'],
  ['retry', 'waiting'],
  ['dead', 'dead'],
  ['rejected', undefined],
]);

/** Messages and outcomes as they happen. */
export default function LivePage({ route: { query } }: { route: Route }) {
  const filter = toFilter(query);
  const key = `live ${JSON.stringify(filter)}`;
  const [view, setView] = useState(() => recall<LiveView>(key) ?? EMPTY_VIEW);
  const [isPaused, setPaused] = useState(false);
  const [ring, before] = useMemo(() => {
    const show = (next: LiveView) => {
      keep(key, next);
      setView(next);
    };
    const recalled = recall<LiveView>(key) ?? EMPTY_VIEW;
    return [new LiveRing(show, recalled), recalled] as const;
  }, [key]);
  ring.isPaused = isPaused;
  useEffect(() => {
    setView(before);
    const stream = new LiveStream(filter, ring);
    return () => {
      stream.close();
      ring.close();
    };
  }, [ring]);
  return (
    <>
      <PageHeading title="Live">
        <Button onClick={() => setPaused(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
        <Button onClick={() => ring.clear()}>Clear the list</Button>
      </PageHeading>
      <LiveFilters filter={filter} onFilter={replaceQuery} />
      <div class="live-state spread">
        <p role="status">{isPaused && view.isOpen ? 'Paused.' : toState(view)}</p>
        <p class="hint number">{toCounts(view)}</p>
      </div>
      {view.rows.length > 0 ? (
        <LiveTable rows={view.rows} />
      ) : (
        <EmptyState
          title={
            matchesNothing(filter) ? 'Nothing can match.' : view.seen > 0 ? 'No events are shown.' : 'No events yet.'
          }
        >
          <p>
            {matchesNothing(filter)
              ? 'Only accepted and repeated messages have a type, event and user.'
              : toAdvice(view, isPaused, Object.keys(filter).length > 0)}
          </p>
          {filter.kind !== 'duplicate' && (
            <p>
              Earlier ones are{' '}
              {filter.kind === 'rejected' ? (
                <a href={hrefOf('sources')}>on the pages of their sources</a>
              ) : (
                <>
                  among the <a href={hrefOf('deliveries', toDeliveryFilter(filter))}>deliveries</a>
                </>
              )}
              .
            </p>
          )}
        </EmptyState>
      )}
    </>
  );
}

function toFilter(query: URLSearchParams): LiveFilter {
  return Object.fromEntries(FIELDS.flatMap((field) => (query.get(field) ? [[field, query.get(field)!]] : [])));
}

/** Whether the filter has fields that events of its kind never have. */
function matchesNothing({ kind = '', type, event, userId }: LiveFilter): boolean {
  return OUTCOMES.has(kind) && (type ?? event ?? userId) !== undefined;
}

/** Returns the filter for earlier events: the deliveries that they are of. */
function toDeliveryFilter({ kind = '', ...fields }: LiveFilter) {
  return { ...fields, state: OUTCOMES.get(kind) };
}

function toAdvice({ isLost }: LiveView, isPaused: boolean, isFiltered: boolean): string {
  if (isLost) return 'Events that happen until then are not shown.';
  if (isPaused) return 'What happens now is only counted. Resume to see it.';
  return isFiltered
    ? 'Events that match appear here as they happen.'
    : 'Send a message: it appears here as it happens.';
}

function toState({ isOpen, isLost, scope }: LiveView): string {
  if (isLost) return 'The relay does not answer. The page connects again by itself.';
  if (!isOpen) return 'Connecting…';
  return scope === 'queue'
    ? 'Live: events of all processes that share the queue and have the option admin.'
    : 'Live: events of this process only.';
}

function toCounts({ seen, missed, skipped, gaps, rows }: LiveView): string {
  const counts = [`${seen.toLocaleString()} seen${rows.length < seen ? `, the last ${rows.length} shown` : ''}`];
  if (skipped > 0) counts.push(`${skipped.toLocaleString()} skipped while paused`);
  if (missed > 0) counts.push(`${missed.toLocaleString()} dropped by the relay, because too many came at once`);
  if (gaps > 0) counts.push(`reconnected ${gaps === 1 ? 'once' : `${gaps} times`}, with events missing in between`);
  return counts.join(' · ');
}
