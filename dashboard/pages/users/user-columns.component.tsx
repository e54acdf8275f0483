import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import type { Column } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { DeliverySummary } from '../deliveries/delivery.answer.js';

/** Columns of the list of a user's deliveries. */
export const USER_COLUMNS: Column<DeliverySummary>[] = [
  {
    title: 'Message',
    cell: ({ id, messageId }) => <PlainText value={messageId} max={80} href={hrefOf('deliveries', {}, id)} />,
  },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Event', cell: ({ type, event }) => <PlainText value={event ?? type} max={80} /> },
  { title: 'Source', cell: ({ source }) => <PlainText value={source} max={80} /> },
  { title: 'Destination', cell: ({ destination }) => <PlainText value={destination} max={80} /> },
  { title: 'Accepted', cell: ({ acceptedAt }) => <Time at={acceptedAt} /> },
  { title: 'Reason (if dead)', cell: ({ reason }) => <PlainText value={reason} max={160} /> },
];
