import { CountLink } from '../../components/count-link.component.js';
import { countOf } from '../../components/count.util.js';
import { NameLink } from '../../components/name-link.component.js';
import { DELIVERY_STATES, StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { HealthBadge } from '../destinations/health-badge.component.js';
import type { Attention, DestinationProblem } from '../../../lib/webhook-destination/admin/api/attention.routes.js';
import type { Overview, OverviewDestination } from './overview.answer.js';

interface CountsTableProps extends Pick<Overview, 'destinations' | 'others'> {
  attention: Attention | undefined;
}

/** Number of deliveries by destination and state, each a link to the deliveries. */
export function CountsTable({ destinations, others, attention }: CountsTableProps) {
  const problems = new Map(attention?.destinations.map(({ destination, problem }) => [destination, problem]));
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
            cell: (row) => (
              <>
                <NameLink of="destinations" name={row.destination} max={200} />{' '}
                <Status of={row} problem={problems.get(row.destination)} />
              </>
            ),
          },
          ...DELIVERY_STATES.map(([state, title]) => ({
            title,
            isNumber: true,
            cell: ({ destination, counts }: OverviewDestination) => (
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

interface StatusProps {
  of: OverviewDestination;
  problem: DestinationProblem['problem'] | undefined;
}

/** Says why a destination gets nothing, or what is wrong with it; renders nothing if all is well. */
function Status({ of: { entry, down }, problem = down ? 'down' : undefined }: StatusProps) {
  return entry ? <HealthBadge hold={entry} health={problem} /> : <StateBadge state="removed" />;
}

function toText(counts: Overview['counts']): string {
  return DELIVERY_STATES.map(([state]) => `${(counts[state] ?? 0).toLocaleString()} ${state}`).join(', ');
}
