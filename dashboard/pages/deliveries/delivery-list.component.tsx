import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { type Column, KeysetTable } from '../../components/table.component.js';
import { Ago, TimeAndAge } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { ReplayManyDialog } from '../replays/replay-many.dialog.js';
import { REPLAY_WORDS, toReplayable } from '../replays/replay-words.js';
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
  const [isReplaying, setReplaying] = useState(false);
  const { state: given, ...others } = filter;
  const state = toReplayable(given);
  return (
    <>
      <PageHeading title="Deliveries">
        {state && (
          <Button
            changes
            disabledReason={list.rows.length > 0 ? undefined : 'There is nothing to replay.'}
            onClick={() => setReplaying(true)}
          >
            {Object.keys(others).length > 0 ? REPLAY_WORDS[state].matching : REPLAY_WORDS[state].all}
          </Button>
        )}
      </PageHeading>
      <FilterForm page="deliveries" filter={filter} list={list} />
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
      {state && isReplaying && <ReplayManyDialog state={state} filter={others} onClose={() => setReplaying(false)} />}
    </>
  );
}

function Second({ children }: { children: ComponentChildren }) {
  return <div class="second-line">{children}</div>;
}
