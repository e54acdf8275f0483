import type { ComponentChildren } from 'preact';

import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import type { Column } from '../../components/table.component.js';
import { Due, TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { AttemptAnswer } from './attempt-answer.component.js';
import type { DeliverySummary } from './delivery.answer.js';

/** Columns of a list of deliveries. */
export const DELIVERY_COLUMNS: Column<DeliverySummary>[] = [
  {
    title: 'Message',
    cell: ({ id, event, type, messageId }) => (
      <>
        <PlainText value={event ?? type ?? 'unknown'} max={80} href={hrefOf('deliveries', {}, id)} />
        <Second>
          <PlainText value={messageId} max={28} />
        </Second>
      </>
    ),
  },
  {
    title: 'State',
    look: 'state',
    cell: ({ state, reason, nextAttemptAt }) => (
      <>
        <StateBadge state={state} />
        {reason !== undefined && (
          <Second>
            <PlainText value={reason} max={120} />
          </Second>
        )}
        {state === 'waiting' && nextAttemptAt !== undefined && (
          <Second>
            next attempt <Due at={nextAttemptAt} />
          </Second>
        )}
      </>
    ),
  },
  {
    title: 'Last answer',
    cell: ({ lastAttempt, attempts }) => (
      <>
        <AttemptAnswer attempt={lastAttempt} />
        {attempts > 1 && <Second>{attempts} attempts</Second>}
      </>
    ),
  },
  { title: 'User', look: 'id', cell: ({ userId }) => <NameLink of="users" name={userId} /> },
  { title: 'Destination', cell: ({ destination }) => <NameLink of="destinations" name={destination} /> },
  { title: 'Source', look: 'id', cell: ({ source }) => <NameLink of="sources" name={source} /> },
  { title: 'Accepted', cell: ({ acceptedAt }) => <TimeAndAge at={acceptedAt} /> },
];

function Second({ children }: { children: ComponentChildren }) {
  return <div class="second-line">{children}</div>;
}
