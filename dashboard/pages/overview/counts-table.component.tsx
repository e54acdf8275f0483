import { CountLink } from '../../components/count-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { DELIVERY_STATES, StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { DestinationCounts } from './destination-counts.js';

/** Maximum number of rows. */
const MAX_ROWS = 100;

/** Number of deliveries by destination and state, each a link to the deliveries. */
export function CountsTable({ rows, down }: { rows: DestinationCounts[]; down: string[] }) {
  const isDown = new Set(down);
  return (
    <section class="panel">
      <h2>Deliveries by destination</h2>
      <Table
        caption="Deliveries by destination and state"
        rows={rows.slice(0, MAX_ROWS)}
        keyOf={({ destination }) => destination}
        columns={[
          {
            title: 'Destination',
            cell: ({ destination }) => (
              <>
                <PlainText value={destination} /> {isDown.has(destination) && <StateBadge state="down" />}
              </>
            ),
          },
          ...DELIVERY_STATES.map(([state, title]) => ({
            title,
            isNumber: true,
            cell: ({ destination, [state]: count }: DestinationCounts) => (
              <CountLink count={count} href={hrefOf('deliveries', { state, destination })} />
            ),
          })),
        ]}
      />
      {rows.length > MAX_ROWS && (
        <p class="hint">
          Showing the {MAX_ROWS} destinations with the most undelivered messages, of {rows.length.toLocaleString()}.
        </p>
      )}
    </section>
  );
}
