import type { LiveKind } from '../../api/live.stream.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { type Column, Table } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { toDetails } from './live-details.util.js';
import type { LiveRow } from './live.ring.js';

/** Names of the kinds that are shown by another one. */
const LABELS: Partial<Record<LiveKind, string>> = { message: 'accepted', duplicate: 'repeated', rejected: 'refused' };

const COLUMNS: Column<LiveRow>[] = [
  { title: 'Time', look: 'time', cell: ({ event: { at } }) => <Time at={at} look="time" /> },
  {
    title: 'Kind',
    look: 'kind',
    cell: ({ event: { kind } }) => <StateBadge state={kind} label={LABELS[kind] ?? kind} />,
  },
  { title: 'Source', cell: ({ event: { source } }) => <NameLink of="sources" name={source} max={80} /> },
  {
    title: 'Destination',
    look: 'destination',
    cell: (row) => <NameLink of="destinations" name={destinationOf(row)} max={80} />,
  },
  { title: 'Event', cell: ({ event: { event, type } }) => <PlainText value={event ?? type} max={80} /> },
  { title: 'User', cell: ({ event: { userId } }) => <NameLink of="users" name={userId} max={80} /> },
  {
    title: 'Message',
    cell: ({ event: { messageId } }) => (
      <PlainText value={messageId} max={80} href={hrefOf('deliveries', { messageId })} />
    ),
  },
  { title: 'Details', look: 'details', cell: ({ event }) => <PlainText value={toDetails(event)} max={400} /> },
];

/** Table of events, newest first. */
export function LiveTable({ rows }: { rows: LiveRow[] }) {
  return (
    <Table
      caption="Live events, the newest first"
      look="live-table"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ id }) => String(id)}
    />
  );
}

/** Returns the destination of an event, if there is only one. */
function destinationOf({ event: { destination, destinations = [], repeated = [] } }: LiveRow): string | undefined {
  const names = [...destinations, ...repeated];
  return destination ?? (names.length === 1 ? names[0] : undefined);
}
