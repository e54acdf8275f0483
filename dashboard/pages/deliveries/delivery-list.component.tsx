import { useState } from 'preact/hooks';

import { useKeyset } from '../../api/keyset.hook.js';
import { Button } from '../../components/button.component.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { PageHeading } from '../../components/page-heading.component.js';
import { KeysetTable } from '../../components/table.component.js';
import { Time } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import { DELIVERY_COLUMNS } from './delivery-columns.component.js';
import { ReplayManyDialog } from '../replays/replay-many.dialog.js';
import { REPLAY_WORDS, toReplayable } from '../replays/replay-words.js';
import { searchPortion, toFilter } from './delivery-filter.js';
import { FilterForm } from './filter-form.component.js';

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
      {typeof list.deliveredSince === 'number' && (given ?? 'delivered') === 'delivered' && (
        <p class="hint">
          Delivered messages{filter.destination !== undefined && ' of this destination'} are kept since{' '}
          <Time at={list.deliveredSince} />.
          {filter.destination === undefined && ' Those of destinations with many messages are kept for less time.'}
        </p>
      )}
      <KeysetTable
        list={list}
        caption="Deliveries, the newest first"
        columns={DELIVERY_COLUMNS}
        keyOf={({ id }) => id}
        empty={
          Object.keys(filter).length > 0 ? (
            <EmptyState title="No deliveries match.">
              <p>
                All fields must match exactly: <a href={hrefOf('deliveries')}>clear the search</a>, or enter one id in
                the box at the top. Delivered and dead deliveries are kept for a limited time.
              </p>
            </EmptyState>
          ) : (
            <EmptyState title="No deliveries yet.">
              <p>
                Send a message with the write key of a <a href={hrefOf('sources')}>source</a>.
              </p>
            </EmptyState>
          )
        }
      />
      {state && isReplaying && <ReplayManyDialog state={state} filter={others} onClose={() => setReplaying(false)} />}
    </>
  );
}
