import type { DeliveryState } from '../../../webhook-destination/queue/delivery-queue.interface.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Table } from '../../components/table.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { DestinationCounts } from './destination-counts.js';

const STATES: readonly (readonly [DeliveryState, title: string])[] = [
  ['queued', 'Queued'],
  ['delivering', 'Delivering'],
  ['waiting', 'Waiting'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead'],
];

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
          ...STATES.map(([state, title]) => ({
            title,
            isNumber: true,
            cell: ({ destination, [state]: count = 0 }: DestinationCounts) =>
              count === 0 ? (
                <span class="muted">0</span>
              ) : (
                <a href={hrefOf('deliveries', { state, destination })}>{count.toLocaleString()}</a>
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
