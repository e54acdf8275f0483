import { CountLink } from '../../components/count-link.component.js';
import { countOf } from '../../components/count.util.js';
import { NameLink } from '../../components/name-link.component.js';
import { DELIVERY_STATES, StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { DestinationCounts } from '../../../lib/webhook-destination/observe/destination-counts.js';
import type { Overview } from './overview.answer.js';

/** Number of deliveries by destination and state, each a link to the deliveries. */
export function CountsTable({ destinations, others }: Pick<Overview, 'destinations' | 'others'>) {
  return (
    <section class="panel">
      <h2>Deliveries by destination</h2>
      <Table
        caption="Deliveries by destination and state"
        rows={destinations}
        keyOf={({ destination }) => destination}
        columns={[
          {
            title: 'Destination',
            cell: ({ destination, down }) => (
              <>
                <NameLink of="destinations" name={destination} max={200} /> {down && <StateBadge state="down" />}
              </>
            ),
          },
          ...DELIVERY_STATES.map(([state, title]) => ({
            title,
            isNumber: true,
            cell: ({ destination, counts }: DestinationCounts) => (
              <CountLink count={counts[state]} href={hrefOf('deliveries', { state, destination })} />
            ),
          })),
        ]}
      />
      {others.destinations > 0 && (
        <p class="hint">
          Showing the {destinations.length} destinations that most need attention. The{' '}
          {countOf(others.destinations, 'other has', 'others have')} {toText(others.counts)}:{' '}
          <a href={hrefOf('destinations')}>all destinations</a>.
        </p>
      )}
    </section>
  );
}

function toText(counts: Overview['counts']): string {
  return DELIVERY_STATES.map(([state]) => `${(counts[state] ?? 0).toLocaleString()} ${state}`).join(', ');
}
