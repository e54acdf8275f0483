import type { ComponentChildren } from 'preact';

import { useKeyset } from '../../api/keyset.hook.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { type Column, KeysetTable } from '../../components/table.component.js';
import { Ago, Time, TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { AttemptAnswer } from './attempt-answer.component.js';
import { searchPortion, toFilter } from './delivery-filter.js';
import type { DeliverySummary } from './delivery.answer.js';
import { FilterForm } from './filter-form.component.js';

const COLUMNS: Column<DeliverySummary>[] = [
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

/** Searches deliveries. */
export function DeliverySearch({ query }: { query: URLSearchParams }) {
  const filter = toFilter(query);
  const list = useKeyset((cursor, signal) => searchPortion(filter, cursor, signal), JSON.stringify(filter));
  return (
    <>
      <PageHeading title="Deliveries" />
      <FilterForm page="deliveries" filter={filter} list={list} />
      {typeof list.deliveredSince === 'number' && (
        <p class="hint">
          Delivered messages{filter.destination !== undefined && ' of this destination'} are kept since{' '}
          <Time at={list.deliveredSince} />
          {filter.destination === undefined && ' at the earliest; a destination with many messages keeps less'}.
        </p>
      )}
      <KeysetTable
        list={list}
        caption="Deliveries, the newest first"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          Object.keys(filter).length > 0 ? (
            <EmptyState title="No deliveries match.">
              <p>All fields must match exactly. Delivered and dead deliveries are kept for a limited time.</p>
            </EmptyState>
          ) : (
            <EmptyState title="No deliveries yet.">
              <p>They appear here once a source sends its first message.</p>
            </EmptyState>
          )
        }
      />
    </>
  );
}

function Second({ children }: { children: ComponentChildren }) {
  return <div class="second-line">{children}</div>;
}
