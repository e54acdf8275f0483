import type { ComponentChildren } from 'preact';

import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import type { Column } from '../../components/table.component.js';
import { Ago, TimeAndAge } from '../../components/time.component.js';
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
          <PlainText value={messageId} max={40} />
        </Second>
      </>
    ),
  },
  {
    title: 'State',
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
            next attempt <Ago at={nextAttemptAt} />
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
  {
    title: 'User',
    cell: ({ userId }) => <PlainText value={userId} max={60} href={hrefOf('deliveries', { userId })} />,
  },
  { title: 'Destination', cell: ({ destination }) => <PlainText value={destination} max={60} /> },
  { title: 'Source', cell: ({ source }) => <PlainText value={source} max={60} /> },
  { title: 'Accepted', cell: ({ acceptedAt }) => <TimeAndAge at={acceptedAt} /> },
];

function Second({ children }: { children: ComponentChildren }) {
  return <div class="second-line">{children}</div>;
}
